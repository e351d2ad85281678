/** ANSI escape sequences in texts, such as colors of terminals */

/**
 * An escape sequence of ECMA-48, as an expression of RE2 and of JavaScript: a control sequence (colors), a text such as a
 * link up to its end, or one with a single final character. JSON writes the escape character as \u001b.
 */
const escapeStart = String.raw`\x1b|\\u001[bB]`;
export const escapeSequence = String.raw`(?:${escapeStart})(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\\]*(?:\x07|\x1b\\|\\u0007|\\u001[bB]\\\\?)|[ -/]*[0-~])?`;

const escapePattern = new RegExp(escapeSequence, 'g');

/** Returns a text without escape sequences. */
export const removeEscapeSequences = (text: string): string => text.replace(escapePattern, '');
