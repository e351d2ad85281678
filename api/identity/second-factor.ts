import { ConflictError, type StoredMetadata } from '../../schemas/ports/documents.ts';
import { type MultiFactor, multiFactors, multiFactorsTenant } from '../../schemas/resources/multi-factor.ts';
import type { User } from '../../schemas/resources/user.ts';
import { ApiError, createFieldError, createRateLimitError } from '../errors.ts';
import type { RequestFacts } from '../request-facts.ts';
import { countInWindows } from './attempt-windows.ts';
import { type AcceptedCode, verifyCode } from './multi-factor-codes.ts';
import type { IdentityPorts } from './ports.ts';
import { createUnauthenticatedError } from './session.ts';

/** The second step of a sign-in with a correct password. */
export interface SecondFactorCheck {
  readonly user: User & StoredMetadata;
  /** A code of the authenticator, or a recovery code */
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
  { user, code, request }: SecondFactorCheck,
  ports: CodePorts,
): Promise<AcceptedCode['method'] | undefined> => {
  if (!(await isMultiFactorEnabled(user.id, ports))) return undefined;
  if (code === undefined) throw createMissingCodeError();
  const method = await useCode(user.id, code, request, ports);
  if (method === undefined) throw createUnauthenticatedError('the e-mail address or the password is wrong');
  return method;
};

/**
 * Checks a signed-in user: throws `MFA_REQUIRED` if multi-factor is enabled and no code is given, and 400 for a wrong
 * code.
 */
export const requireCode = async (
  userId: string,
  { code, request }: Pick<SecondFactorCheck, 'code' | 'request'>,
  ports: CodePorts,
): Promise<void> => {
  if (!(await isMultiFactorEnabled(userId, ports))) return;
  if (code === undefined) throw createMissingCodeError();
  if ((await useCode(userId, code, request, ports)) === undefined) throw createFieldError('code', 'is wrong');
};

const isMultiFactorEnabled = async (userId: string, ports: CodePorts): Promise<boolean> =>
  ((await findEnrolment(userId, ports))?.confirmedAt ?? null) !== null;

const createMissingCodeError = (): ApiError =>
  new ApiError('MFA_REQUIRED', 'enter a code of the authenticator, or a recovery code, as "code"');

export const findEnrolment = (
  userId: string,
  { documents }: Pick<IdentityPorts, 'documents'>,
): Promise<(MultiFactor & StoredMetadata) | undefined> =>
  documents.forTenant(multiFactorsTenant).collection(multiFactors).find(userId);

/**
 * Wrong codes of a user from one address, and from all addresses: six digits can be guessed, so only few attempts are
 * allowed.
 */
const addressWindow = { limit: 5, windowMs: 60_000 };
const accountWindow = { limit: 30, windowMs: 3_600_000 };
/** Maximum number of attempts to store an accepted code, if the user's other codes are accepted concurrently */
const maxAttempts = 10;

/**
 * Consumes a code: only one of several concurrent uses of the same code is accepted. Throws `RATE_LIMITED` after many
 * wrong codes. Counts before the check, so that concurrent attempts count too.
 */
export const useCode = async (
  userId: string,
  code: string,
  { address }: Pick<RequestFacts, 'address'>,
  ports: CodePorts,
): Promise<AcceptedCode['method'] | undefined> => {
  const undoCount = await countAttempt(userId, address, ports);
  const method = await consumeCode(userId, code, ports);
  if (method !== undefined) await undoCount();
  return method;
};

const consumeCode = async (
  userId: string,
  code: string,
  { documents, secretBox, clock }: CodePorts,
): Promise<AcceptedCode['method'] | undefined> => {
  const enrolments = documents.forTenant(multiFactorsTenant).collection(multiFactors);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const enrolment = await enrolments.find(userId);
    if (enrolment === undefined) return undefined;
    const acceptedCode = verifyCode(enrolment, code, { userId, box: secretBox, nowMs: clock.now() });
    if (acceptedCode === undefined) return undefined;
    try {
      await enrolments.update(userId, acceptedCode.changes, enrolment.version);
      return acceptedCode.method;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  return undefined;
};

const countAttempt = async (
  userId: string,
  address: string,
  { counters }: Pick<IdentityPorts, 'counters'>,
): Promise<() => Promise<void>> => {
  const { waitsMs, undo } = await countInWindows(counters, [
    { key: `multi-factor/${userId}/${address}`, ...addressWindow },
    { key: `multi-factor/${userId}`, ...accountWindow },
  ]);
  if (waitsMs.length === 0) return undo;
  await undo();
  throw createRateLimitError('too many wrong codes; wait a moment', Math.max(...waitsMs));
};
