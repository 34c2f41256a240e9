/** Calls the `scheduled` handler of Citeward at the times of a cron expression: one object per expression. */
import { DurableObject } from 'cloudflare:workers';
import { nextTime } from './cron-times.ts';

/** What the object is bound to. */
export type ClockEnvironment = {
  /** Citeward, whose `scheduled` handler is called. */
  readonly CITEWARD: Fetcher;
  /** The cron expressions of wrangler.toml. */
  readonly CRONS: readonly string[];
};

const CRON_KEY = 'cron';

export class Clock extends DurableObject<ClockEnvironment> {
  /** Sets the alarm unless it is set. An alarm whose time passed while nothing ran is due at once. */
  async start(cron: string): Promise<void> {
    await this.ctx.storage.put(CRON_KEY, cron);
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(nextTime(cron, Date.now()));
  }

  override async alarm(): Promise<void> {
    const cron = await this.ctx.storage.get<string>(CRON_KEY);
    // An expression that the configuration no longer has ends here.
    if (cron === undefined || !this.env.CRONS.includes(cron)) return;
    // Set before the handler runs, because the handler may fail.
    await this.ctx.storage.setAlarm(nextTime(cron, Date.now()));
    await this.env.CITEWARD.scheduled({ cron, scheduledTime: new Date() });
  }
}
