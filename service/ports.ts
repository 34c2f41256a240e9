/**
 * The ports through which the services use a deployment. `functions/platform.ts` builds them from the bindings; tests
 * may pass their own.
 */

import type { SourceReader } from '../src/citations/recent-sources.ts';
import type { CallClass, Desk } from '../src/judgments/desk.ts';
import type { Signing } from '../src/judgments/issuer.ts';
import type { ReasonStore } from '../src/judgments/reasons.ts';
import type { JudgmentStore } from '../src/judgments/store.ts';
import type { Result } from '../src/result.ts';
import type { GroupObservation } from '../src/rubrics/append.ts';
import type { RejectedProposal } from '../src/rubrics/evolution-log.ts';
import type { PromptCriterion } from '../src/rubrics/rubric-set.ts';
import type { PromptVisit } from '../src/wire/adapters/run-place.ts';
import type { NewCriterion } from '../src/wire/rubrics.ts';
import type { CodeRunner } from './backends/code-runner.ts';
import type { Backends } from './backends/configured.ts';
import type {
  DetailPlace,
  ObserveAnswer,
  PromptStart,
  PromptSummary,
  Recording,
  RecordingResult,
  RolloutDetail,
  RowSelection,
  RunContents,
  RunGroup,
  RunLife,
  StartedPrompt,
  StepRange,
  StoredPrompt,
  StoredRow,
  StoredRun,
  VisitedPrompt,
} from './ledger-port.ts';

/** The ledger of runs, where scored rollouts are recorded. Every method throws StorageError. */
export type Ledger = {
  record(recording: Recording): Promise<RecordingResult>;
  /** The latest visit of a prompt, for trainers that send no ids of groups. */
  latestVisit(prompt: VisitedPrompt): Promise<PromptVisit | null>;
};

/** Reads the ledger, for replay. */
export type LedgerReader = {
  find(run: string): Promise<StoredRun | null>;
  contents(run: StoredRun): Promise<RunContents>;
  groups(run: StoredRun, range: StepRange): AsyncGenerator<RunGroup>;
  page(run: StoredRun, selection: RowSelection, limit: number): Promise<StoredRow[]>;
  detail(place: DetailPlace): Promise<RolloutDetail>;
};

/** Makes criteria from the responses to a question. */
export type RubricMaker = (wanted: {
  readonly question: string;
  readonly responses: readonly string[];
  /** Criteria that the generator is shown: the row's own, those added during the run, and those that are gone. */
  readonly persistent: readonly PromptCriterion[];
  readonly active: readonly PromptCriterion[];
  readonly retired: readonly PromptCriterion[];
  /** The name of the judge that writes them; `null` = the default judge. */
  readonly generator: string | null;
}) => Promise<Result<MadeGroupRubrics, { readonly reason: string }>>;

export type MadeGroupRubrics = {
  readonly criteria: readonly NewCriterion[];
  /** Key of the generation. */
  readonly judgment: string | null;
  /** SHA-256 of what the generator saw of each response. */
  readonly read: readonly string[];
  /** What the generator wrote besides, and which check it failed. */
  readonly rejected: readonly RejectedProposal[];
};

/** The evolving rubrics of runs. Every method throws StorageError. */
export type EvolvingRubrics = {
  /** Starts a prompt, and its run if necessary, and opens a visit of it. Idempotent. */
  start(prompt: PromptStart): Promise<StartedPrompt>;
  /** Records what a group showed; `null` = there is no such prompt. Idempotent by step and group. */
  observe(
    life: RunLife,
    prompt: string,
    observation: GroupObservation,
    scoresNext?: boolean,
  ): Promise<ObserveAnswer | null>;
};

/** Reads the evolving rubrics, for replay. */
type RubricsReader = {
  list(run: StoredRun, after: string | null, limit: number): Promise<readonly PromptSummary[]>;
  read(life: RunLife, prompt: string): Promise<StoredPrompt | null>;
};

/** Where a Worker keeps what requests record. */
type RunRecords = {
  readonly ledger: Ledger;
  readonly rubrics: EvolvingRubrics;
  /** Keeps the judge's reasons, for requests that ask for it. */
  readonly reasons: ReasonStore;
};

/** How long a request waits for its judges, in milliseconds; their calls may go on afterwards. */
export type JudgeWait = {
  /** For each judge of a request that names no `deadline_s`, and for all that it asks in turn. */
  readonly each_ms: number;
  readonly all_ms: number;
  /** Limits the `deadline_s` of a request, too. */
  readonly most_ms: number;
};

export type ScoringPlatform = {
  /** Reads sources, and keeps what the isolate read last. */
  readonly readSources: SourceReader;
  readonly backends: Backends;
  readonly judgments: JudgmentStore;
  /** Makes the paid judge calls. */
  readonly desk: Desk;
  /** `live`: a caller waits for the score. `batch`: calls yield to live ones. */
  readonly class: CallClass;
  /** Default: 60 s for each judge, 95 s for all, and what the request says. */
  readonly judgeWait?: JudgeWait;
  readonly signing: Signing;
  readonly makeRubrics: RubricMaker;
  /** `null` = the host is no Worker: a request that needs one fails with `needs_worker`, before any judge call. */
  readonly records: RunRecords | null;
};

export type ReplayPlatform = ScoringPlatform & {
  readonly ledger: LedgerReader;
  readonly rubrics: RubricsReader;
};

export type AgentPlatform = ScoringPlatform & {
  /** `null` = the deployment has no sandbox. */
  readonly runCode: CodeRunner | null;
};
