import type { PromqlDependencies } from '../../queries/promql/query-reader.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { DemoSender } from '../../schemas/ports/demo.ts';
import type { Evidence } from '../../schemas/ports/evidence.ts';
import type { GroupStatuses } from '../../schemas/ports/group-status.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Mailer } from '../../schemas/ports/mail.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { SyntheticRun } from '../../schemas/synthetic-runs.ts';
import type { Caller } from '../callers/caller.ts';
import type { ScopeEntry } from '../callers/scopes.ts';
import type { EventPublisher, ValuePublisher } from '../event-publisher.ts';
import type { Passwords } from '../identity/password.ts';
import type { IdentityPorts } from '../identity/ports.ts';
import type { TokenUses } from '../identity/token-uses.ts';
import type { LiveTails } from '../live-tail/live-tails.ts';
import type { RequestFacts } from '../request-facts.ts';
import type { DeadLetters, ReplayJobs } from './ports/dead-letters.ts';

interface OperationRequest {
  readonly method: string;
  /** Without a query: `/api/slos` */
  readonly path: string;
  /** Names in lower case, such as `if-match` */
  readonly headers?: Readonly<Record<string, string>>;
  /** Parameters as in an address: texts, or lists of texts */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** Resolves with the JSON response. Rejects with the `ApiError` that the caller's own request would receive. */
export type CallOperation = (
  request: OperationRequest,
  context: { readonly caller: Caller; readonly request: RequestFacts; readonly signal: AbortSignal },
  ports: Ports,
) => Promise<unknown>;

/** Dependencies of all handlers. There are no globals. */
export interface Ports extends IdentityPorts {
  readonly columns: Columns;
  readonly bus: Bus;
  readonly promql: PromqlDependencies;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly passwords: Passwords;
  /** Scopes that API tokens can have */
  readonly scopes: readonly ScopeEntry[];
  readonly tokenUses: TokenUses;
  /** Sends without a queue, for channel tests that wait for the result */
  readonly mailer: Mailer;
  readonly evidence: Evidence;
  /** Actions declared by operations */
  readonly auditActions: readonly string[];
  readonly deadLetters: DeadLetters;
  readonly replayJobs: ReplayJobs;
  readonly liveTails: LiveTails;
  /** Status of consumer groups, of all processes */
  readonly groupStatuses: GroupStatuses;
  readonly events: EventPublisher;
  /** Absent unless this process runs all roles */
  readonly demo?: DemoSender | undefined;
  /** Publishes test alerts, and the ends of alerts of deleted rules. */
  readonly alertTransitions: ValuePublisher<AlertTransition>;
  /** Publishes runs reported by probes. */
  readonly syntheticRuns: ValuePublisher<SyntheticRun>;
  /** Audit actions of operations that Editors may call: changes that every Viewer may read. */
  readonly configurationActions: readonly string[];
  /** Calls another operation as the caller of this one. */
  readonly call: CallOperation;
}
