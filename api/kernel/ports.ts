import type { PromqlReading } from '../../queries/promql/reading.ts';
import type { Outbound } from '../../runtime/outbound.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Mailer } from '../../schemas/ports/mail.ts';
import type { Standings } from '../../schemas/ports/standing.ts';
import type { Settings } from '../../schemas/settings.ts';
import type { Evidence } from '../audit/evidence.ts';
import type { DeadLetters } from '../dead-letters/dead-letters.ts';
import type { ReplayJobs } from '../dead-letters/replay-jobs.ts';
import type { EventPublisher, ValuePublisher } from '../event-publisher.ts';
import type { Directory } from '../identity/directory.ts';
import type { Passwords } from '../identity/password.ts';
import type { ScopeEntry } from '../identity/scopes.ts';
import type { SignInFailures } from '../identity/sign-in-failures.ts';
import type { TokenUses } from '../identity/token-uses.ts';
import type { Tokens } from '../identity/tokens.ts';
import type { LiveTails } from '../live-tail/live-tails.ts';
import type { MailQueue } from '../mail/queue.ts';

/** Everything that handlers work with. Nothing is a global. */
export interface Ports {
  readonly documents: Documents;
  readonly columns: Columns;
  readonly bus: Bus;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly promql: PromqlReading;
  readonly log: Log;
  readonly settings: Settings;
  readonly directory: Directory;
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly secretBox: SecretBox;
  readonly outbound: Outbound;
  /** Scopes that API tokens can have. */
  readonly scopes: readonly ScopeEntry[];
  readonly tokenUses: TokenUses;
  readonly signInFailures: SignInFailures;
  readonly mail: MailQueue;
  /** Sends without a queue, for tests of channels that wait for the answer. */
  readonly mailer: Mailer;
  readonly evidence: Evidence;
  /** Actions that operations declare. */
  readonly auditActions: readonly string[];
  readonly deadLetters: DeadLetters;
  readonly replayJobs: ReplayJobs;
  readonly liveTails: LiveTails;
  /** How consumer groups stand, of all processes. */
  readonly standings: Standings;
  readonly events: EventPublisher;
  /** Test firings, and the ends of alerts whose rule is deleted. */
  readonly alertTransitions: ValuePublisher<AlertTransition>;
  /** Audit actions of operations that Editors may call: changes of what every Viewer may read. */
  readonly configurationActions: readonly string[];
}
