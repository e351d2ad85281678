/** Codes of authenticators (RFC 6238) and recovery codes. Their stored forms are worthless without the secret key. */
import { randomBytes } from 'node:crypto';
import { verifySync } from 'otplib';
import type { SecretBox } from '../../runtime/secret-box.ts';
import type { MultiFactor } from '../../schemas/resources/multi-factor.ts';

const periodSeconds = 30;
const recoveryCodeCount = 10;
/** 80 bits. */
const recoveryCodeBytes = 10;
const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/** Under which a user's secret is sealed: another user's does not open. */
export const sealedFor = (userId: string): string => `multi-factor of ${userId}`;

const recoveryHash = (box: SecretBox, userId: string, code: string): string =>
  box.derive(`recovery codes of ${userId}`, code).toString('base64url');

/** New recovery codes as they are shown once, and what is kept of them. */
export const makeRecoveryCodes = (
  box: SecretBox,
  userId: string,
): { readonly shown: readonly string[]; readonly hashes: readonly string[] } => {
  const codes = Array.from({ length: recoveryCodeCount }, () => {
    let bits = 0n;
    for (const byte of randomBytes(recoveryCodeBytes)) bits = (bits << 8n) | BigInt(byte);
    let code = '';
    for (let digit = 0; digit < (recoveryCodeBytes * 8) / 5; digit++, bits >>= 5n) code += alphabet[Number(bits & 31n)];
    return code;
  });
  return {
    shown: codes.map((code) => code.replace(/(.{4})(?=.)/g, '$1-')),
    hashes: codes.map((code) => recoveryHash(box, userId, code)),
  };
};

/** The kind of an accepted code, with the state of the enrolment after it. */
export interface Accepted {
  readonly by: 'authenticator' | 'recovery-code';
  readonly changes: Partial<MultiFactor>;
}

/** Whether a code is good at a time; one time step before and after it counts. Changes nothing by itself. */
export const accept = (
  enrolment: MultiFactor,
  code: string,
  { userId, box, nowMs }: { readonly userId: string; readonly box: SecretBox; readonly nowMs: number },
): Accepted | undefined => {
  const typed = code.replace(/[\s-]/g, '').toLowerCase();
  if (/^\d{6}$/.test(typed)) {
    const secret = box.open(sealedFor(userId), enrolment.secret);
    if (secret === undefined) return undefined;
    const timeStep = timeStepOf(secret, typed, nowMs, enrolment.lastTimeStep);
    return timeStep === undefined ? undefined : { by: 'authenticator', changes: { lastTimeStep: timeStep } };
  }
  const hash = recoveryHash(box, userId, typed);
  if (!enrolment.recoveryCodes.includes(hash)) return undefined;
  return {
    by: 'recovery-code',
    changes: { recoveryCodes: enrolment.recoveryCodes.filter((storedHash) => storedHash !== hash) },
  };
};

/** The time step to which a code belongs, when it lies after the last accepted one. */
const timeStepOf = (secret: string, token: string, nowMs: number, afterTimeStep: number): number | undefined => {
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
