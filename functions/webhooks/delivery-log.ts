/** The outbox as its readers see it: pages, and one delivery with its attempts and its body. */
import type { DeliveriesReply, DeliveryReply } from '../../src/wire/webhooks.ts';
import type { DeliveriesMessage, DeliveryDescription } from './endpoint-messages.ts';
import type { DeliveryRow } from './outbox.ts';
import type { StoredTexts } from './stored-texts.ts';
import { timeText } from './time.ts';

type AttemptRow = { at_ms: number; status: number | null; reason: string | null; duration_ms: number };

export class DeliveryLog {
  readonly #sql: SqlStorage;
  readonly #texts: StoredTexts;

  /** @param sql with the tables of the outbox. */
  constructor(sql: SqlStorage, texts: StoredTexts) {
    this.#sql = sql;
    this.#texts = texts;
  }

  /** One page, the newest first. `null` = there is no message `after`. */
  page({ state, limit, after }: Omit<DeliveriesMessage, 'v'>): DeliveriesReply | null {
    const from = after === null ? null : this.#row(after);
    if (after !== null && from === null) return null;
    const rows = this.#sql
      .exec<DeliveryRow>(
        `SELECT * FROM deliveries_v1 WHERE seq < ? AND (? IS NULL OR state = ?) ORDER BY seq DESC LIMIT ?`,
        from?.seq ?? Number.MAX_SAFE_INTEGER,
        state,
        state,
        limit + 1,
      )
      .toArray();
    const shown = rows.slice(0, limit).map(replyOf);
    return { deliveries: shown, next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
  }

  describe(id: string): DeliveryDescription | null {
    const row = this.#row(id);
    if (row === null) return null;
    const attempts = this.#sql
      .exec<AttemptRow>('SELECT at_ms, status, reason, duration_ms FROM attempts_v1 WHERE message = ? ORDER BY n', id)
      .toArray();
    return {
      ...replyOf(row),
      attempt_log: attempts.map(({ at_ms, ...attempt }) => ({ at: timeText(at_ms), ...attempt })),
      event: this.text(id) ?? '',
    };
  }

  /** The body of a message; `null` where it is no longer kept. */
  text(id: string): string | null {
    const bytes = this.#texts.read(id);
    return bytes.length === 0 ? null : new TextDecoder().decode(bytes);
  }

  #row(id: string): DeliveryRow | null {
    return this.#sql.exec<DeliveryRow>('SELECT * FROM deliveries_v1 WHERE id = ?', id).toArray()[0] ?? null;
  }
}

function replyOf({ id, type, state, created_ms, settled_ms, next_ms, attempts, reason }: DeliveryRow): DeliveryReply {
  return {
    id,
    type,
    state,
    created_at: timeText(created_ms),
    settled_at: settled_ms === null ? null : timeText(settled_ms),
    next_attempt_at: next_ms === null ? null : timeText(next_ms),
    attempts,
    reason,
  };
}
