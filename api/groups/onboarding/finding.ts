import { z } from 'zod';

/** All findings of the doctor, the most specific first. The first problem in this order is the verdict. */
export const findingCodes = [
  'wrong-credential',
  'malformed-key',
  'unknown-key',
  'revoked-key',
  'expired-key',
  'rotated-key',
  'wrong-protocol',
  'wrong-endpoint',
  'unreachable',
  'signal-not-on-key',
  'signal-not-on-plan',
  'blocked-address',
  'blocked-origin',
  'other-key-sent',
  'over-quota',
  'rate-limited',
  'too-large',
  'wrong-content-type',
  'refused-payload',
  'unavailable',
  'address-restricted',
  'not-indexed-yet',
  'nothing-arrived',
  'working',
] as const;
export type FindingCode = (typeof findingCodes)[number];

export const Finding = z.strictObject({
  code: z.enum(findingCodes),
  level: z
    .enum(['problem', 'hint', 'good'])
    .describe('problem: telemetry is not received; hint: a possible problem; good: telemetry is received'),
  message: z.string(),
  action: z.string().describe('Next step; empty if none is needed'),
});
export type Finding = z.output<typeof Finding>;

export const createProblem = (code: FindingCode, message: string, action: string): Finding => ({
  code,
  level: 'problem',
  message,
  action,
});
export const createHint = (code: FindingCode, message: string, action: string): Finding => ({
  code,
  level: 'hint',
  message,
  action,
});
export const createSuccess = (code: FindingCode, message: string): Finding => ({
  code,
  level: 'good',
  message,
  action: '',
});

/** Sorts findings by code and removes duplicates. */
export const sortFindings = (findings: readonly Finding[]): Finding[] =>
  findingCodes.flatMap((code) => findings.find((finding) => finding.code === code) ?? []);

/** Returns the code of the most informative finding: the first problem, otherwise a success, otherwise the first hint. */
export const chooseVerdict = (findings: readonly Finding[]): FindingCode =>
  (
    findings.find(({ level }) => level === 'problem') ??
    findings.find(({ level }) => level === 'good') ??
    findings[0] ?? { code: 'nothing-arrived' }
  ).code;
