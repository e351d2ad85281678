import type { Outbound } from '../../runtime/outbound.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import type { Documents } from '../../schemas/ports/documents.ts';
import type { Settings } from '../../schemas/settings.ts';
import type { MailQueue } from '../mail/queue.ts';
import type { Directory } from './directory.ts';
import type { SignInFailures } from './sign-in-failures.ts';
import type { Tokens } from './tokens.ts';

/** Ports for sign-in, sessions and accounts. */
export interface IdentityPorts {
  readonly documents: Documents;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly settings: Settings;
  readonly directory: Directory;
  readonly tokens: Tokens;
  readonly secretBox: SecretBox;
  readonly outbound: Outbound;
  readonly mail: MailQueue;
  readonly signInFailures: SignInFailures;
}
