/** Codes of authenticators (RFC 6238) and recovery codes. Both are stored in a form that is useless without the secret key of the installation. */
import { randomBytes } from 'node:crypto';
import { verifySync } from 'otplib';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { MultiFactor } from '../../schemas/resources/multi-factor.ts';

const periodSeconds = 30;
const recoveryCodeCount = 10;
/** Random bytes of a recovery code: 80 bits */
const recoveryCodeBytes = 10;
const base32Alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns the encryption context of a user's secret, so that it cannot decrypt the secret of another user. */
export const getSecretContext = (userId: string): string => `multi-factor of ${userId}`;

const hashRecoveryCode = (box: SecretBox, userId: string, code: string): string =>
  box.derive(`recovery codes of ${userId}`, code).toString('base64url');

/** Creates recovery codes to show once, and their stored form. */
export const createRecoveryCodes = (
  box: SecretBox,
  userId: string,
): { readonly displayedCodes: readonly string[]; readonly hashes: readonly string[] } => {
  const codes = Array.from({ length: recoveryCodeCount }, () => {
    let bits = 0n;
    for (const byte of randomBytes(recoveryCodeBytes)) bits = (bits << 8n) | BigInt(byte);
    let code = '';
    for (let digitIndex = 0; digitIndex < (recoveryCodeBytes * 8) / 5; digitIndex++, bits >>= 5n)
      code += base32Alphabet[Number(bits & 31n)];
    return code;
  });
  return {
    displayedCodes: codes.map((code) => code.replace(/(.{4})(?=.)/g, '$1-')),
    hashes: codes.map((code) => hashRecoveryCode(box, userId, code)),
  };
};

/** The kind of an accepted code, with the new state of the enrolment. */
export interface AcceptedCode {
  readonly method: 'authenticator' | 'recovery-code';
  readonly changes: Partial<MultiFactor>;
}

/** Verifies a code. Codes of the previous and the next time step are accepted too. Has no side effects. */
export const verifyCode = (
  enrolment: MultiFactor,
  code: string,
  { userId, box, nowMs }: { readonly userId: string; readonly box: SecretBox; readonly nowMs: number },
): AcceptedCode | undefined => {
  const normalizedCode = code.replace(/[\s-]/g, '').toLowerCase();
  if (/^\d{6}$/.test(normalizedCode)) {
    const secret = box.open(getSecretContext(userId), enrolment.secret);
    if (secret === undefined) return undefined;
    const timeStep = findTimeStep(secret, normalizedCode, nowMs, enrolment.lastTimeStep);
    return timeStep === undefined ? undefined : { method: 'authenticator', changes: { lastTimeStep: timeStep } };
  }
  const hash = hashRecoveryCode(box, userId, normalizedCode);
  if (!enrolment.recoveryCodes.includes(hash)) return undefined;
  return {
    method: 'recovery-code',
    changes: { recoveryCodes: enrolment.recoveryCodes.filter((storedHash) => storedHash !== hash) },
  };
};

/** The time step of a code, if it is after the last accepted one. */
const findTimeStep = (secret: string, token: string, nowMs: number, afterTimeStep: number): number | undefined => {
  const result = verifySync({
    secret,
    token,
    period: periodSeconds,
    epoch: Math.floor(nowMs / 1000),
    epochTolerance: periodSeconds,
    ...(afterTimeStep > 0 ? { afterTimeStep } : {}),
  });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
};
