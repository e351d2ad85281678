/** Names of fields and values that are sensitive, as people and programs write them */

const secretPattern =
  /pass ?(?:w|phrase|code)|\bpwd\b|secret|token|\bpin\b|\bcv[cv]2?\b|security code|card ?number|\biban\b|(?:access|api|private) ?key|kennwort|mot de passe|contrase/;

const oneTimePattern =
  /\bt?otp\b|\b(?:mfa|2fa|tfa)\b|one time|authenticator|\b(?:verification|verify|security|auth|authentication|login|confirmation|sms|mail|email) code\b/;

/** Returns a name as words in lower case: `smsCode`, `sms-code` and `#sms_code` are `sms code`. */
const toWords = (name: string): string =>
  name
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();

/** Whether a name is that of a one-time code. */
export const isOneTimeCodeName = (name: string): boolean => oneTimePattern.test(toWords(name));

/** Whether a name is that of a password, a token, a code or another value that nobody else may know. */
export const isSecretName = (name: string): boolean => secretPattern.test(toWords(name)) || isOneTimeCodeName(name);
