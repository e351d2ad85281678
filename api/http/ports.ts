import type { Bus } from '../../schemas/bus.ts';
import type { Clock } from '../../schemas/clock.ts';
import type { Columns } from '../../schemas/columns.ts';
import type { Counters } from '../../schemas/counters.ts';
import type { Documents } from '../../schemas/documents.ts';
import type { Log } from '../../schemas/log.ts';
import type { Settings } from '../../schemas/settings.ts';

import type { Evidence } from '../audit/evidence.ts';
import type { DeadLetters } from '../groups/dead-letter/dead-letters.ts';
import type { ReplayJobs } from '../groups/dead-letter/replay-jobs.ts';
import type { MailQueue } from '../mail/queue.ts';
import type { Directory } from './directory.ts';
import type { Outbound } from './outbound.ts';
import type { Passwords } from './password.ts';
import type { ScopeEntry } from './scopes.ts';
import type { SecretBox } from './secret-box.ts';
import type { TokenUses } from './token-uses.ts';
import type { Tokens } from './tokens.ts';

/** What handlers work with. Everything comes in here; nothing is a global. */
export interface Ports {
  readonly documents: Documents;
  readonly columns: Columns;
  readonly bus: Bus;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
  readonly directory: Directory;
  readonly tokens: Tokens;
  readonly passwords: Passwords;
  readonly secretBox: SecretBox;
  readonly outbound: Outbound;
  /** What API tokens can be allowed. */
  readonly scopes: readonly ScopeEntry[];
  readonly tokenUses: TokenUses;
  readonly mail: MailQueue;
  readonly evidence: Evidence;
  /** Actions that operations declare. */
  readonly auditActions: readonly string[];
  readonly deadLetters: DeadLetters;
  readonly replayJobs: ReplayJobs;
}
