/** The text in place of a secret that was replaced. */
export const redactionStart = '[redacted:';
const redactionPattern = /\[redacted:([a-z0-9-]{1,64}):([0-9a-f]{24})\]/g;

/** Returns the text in place of a secret. */
export const createRedaction = (ruleId: string, fingerprint: string): string =>
  `${redactionStart}${ruleId}:${fingerprint}]`;

export interface Redaction {
  readonly ruleId: string;
  readonly fingerprint: string;
}

/** Returns the secrets that were replaced in a text. */
export const findRedactions = (text: string): Redaction[] =>
  text.includes(redactionStart)
    ? Array.from(text.matchAll(redactionPattern), ([, ruleId = '', fingerprint = '']) => ({ ruleId, fingerprint }))
    : [];
