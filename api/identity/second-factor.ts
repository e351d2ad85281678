import { ConflictError, type Stored } from '../../schemas/ports/documents.ts';
import { type MultiFactor, multiFactors, multiFactorsTenant } from '../../schemas/resources/multi-factor.ts';
import type { User } from '../../schemas/resources/user.ts';
import { ApiError, invalid, rateLimited } from '../errors.ts';
import type { RequestFacts } from '../request-facts.ts';
import { type Accepted, accept } from './multi-factor-codes.ts';
import type { IdentityPorts } from './ports.ts';
import { unauthenticated } from './session.ts';
import { countInWindows } from './spent-windows.ts';

/** A sign-in with a correct password. */
export interface FirstFactorPassed {
  readonly user: User & Stored;
  /** The given `code`: from an authenticator, or a recovery code. */
  readonly code: string | undefined;
  readonly request: RequestFacts;
}

type CodePorts = Pick<IdentityPorts, 'documents' | 'counters' | 'secretBox' | 'clock'>;

/**
 * The second step of a sign-in. Resolves with the authentication methods if the user may continue. Rejects with
 * `MFA_REQUIRED` if a required code is missing, and with `UNAUTHENTICATED` if it is wrong. A rejection counts as a
 * failed attempt.
 */
export const checkSecondFactor = async (
  { user, code, request }: FirstFactorPassed,
  ports: CodePorts,
): Promise<Accepted['by'] | undefined> => {
  if (!(await isOn(user.id, ports))) return undefined;
  if (code === undefined) throw codeMissing();
  const by = await useCode(user.id, code, request, ports);
  if (by === undefined) throw unauthenticated('the e-mail address or the password is wrong');
  return by;
};

/**
 * Checks a signed-in user: throws `MFA_REQUIRED` if multi-factor is enabled and no code is given, and 400 for a wrong
 * code.
 */
export const requireCode = async (
  userId: string,
  { code, request }: Pick<FirstFactorPassed, 'code' | 'request'>,
  ports: CodePorts,
): Promise<void> => {
  if (!(await isOn(userId, ports))) return;
  if (code === undefined) throw codeMissing();
  if ((await useCode(userId, code, request, ports)) === undefined) throw invalid('code', 'is wrong');
};

const isOn = async (userId: string, ports: CodePorts): Promise<boolean> =>
  ((await enrolmentOf(userId, ports))?.confirmedAt ?? null) !== null;

const codeMissing = (): ApiError =>
  new ApiError('MFA_REQUIRED', 'give a code of the authenticator, or a recovery code, as "code"');

export const enrolmentOf = (
  userId: string,
  { documents }: Pick<IdentityPorts, 'documents'>,
): Promise<(MultiFactor & Stored) | undefined> =>
  documents.of(multiFactorsTenant).collection(multiFactors).find(userId);

/**
 * Wrong codes of a user from one address, and from all addresses: six digits can be guessed, so only few attempts are
 * allowed.
 */
const fromAddress = { limit: 5, windowMs: 60_000 };
const fromAnywhere = { limit: 30, windowMs: 3_600_000 };
/** How often another code of the user may be accepted concurrently */
const races = 10;

/**
 * Consumes a code: only one of several concurrent uses of the same code is accepted. Throws `RATE_LIMITED` after many
 * wrong codes. Counts before the check, so that concurrent attempts count too.
 */
export const useCode = async (
  userId: string,
  code: string,
  { address }: Pick<RequestFacts, 'address'>,
  ports: CodePorts,
): Promise<Accepted['by'] | undefined> => {
  const giveBack = await countTry(userId, address, ports);
  const by = await consume(userId, code, ports);
  if (by !== undefined) await giveBack();
  return by;
};

const consume = async (
  userId: string,
  code: string,
  { documents, secretBox, clock }: CodePorts,
): Promise<Accepted['by'] | undefined> => {
  const enrolments = documents.of(multiFactorsTenant).collection(multiFactors);
  for (let race = 0; race < races; race++) {
    const enrolment = await enrolments.find(userId);
    if (enrolment === undefined) return undefined;
    const accepted = accept(enrolment, code, { userId, box: secretBox, nowMs: clock.now() });
    if (accepted === undefined) return undefined;
    try {
      await enrolments.update(userId, accepted.changes, enrolment.version);
      return accepted.by;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  return undefined;
};

const countTry = async (
  userId: string,
  address: string,
  { counters }: Pick<IdentityPorts, 'counters'>,
): Promise<() => Promise<void>> => {
  const { waitsMs, giveBack } = await countInWindows(counters, [
    { key: `multi-factor/${userId}/${address}`, ...fromAddress },
    { key: `multi-factor/${userId}`, ...fromAnywhere },
  ]);
  if (waitsMs.length === 0) return giveBack;
  await giveBack();
  throw rateLimited('too many wrong codes; wait a moment', Math.max(...waitsMs));
};
