/** Removes from stacks what terminals, container runtimes and other carriers add to their lines. */

const escapeCharacter = '\u001b';
const bell = '\u0007';
/** Colours and other control sequences of terminals (ECMA-48), after the escape */
const controlSequence = /^\[[\d:;?]*[A-Za-z]/;
/** The same, written with a visible escape */
const visibleSequence = /\\(?:u001[bB]|x1[bB]|033|e)\[[\d:;?]*[A-Za-z]/g;

/** Returns the text after an escape: without a control sequence, or the address of a link (OSC 8). */
const withoutControl = (part: string): string => {
  if (part.startsWith('[')) return part.replace(controlSequence, '');
  if (part.startsWith(']')) return part.includes(bell) ? part.slice(part.indexOf(bell) + 1) : '';
  return part.startsWith('\\') ? part.slice(1) : part;
};

const withoutColours = (text: string): string => {
  let plain = text;
  if (text.includes(escapeCharacter)) {
    const [start = '', ...parts] = text.split(escapeCharacter);
    plain = start + parts.map(withoutControl).join('');
  }
  return plain.includes('\\') ? plain.replace(visibleSequence, '') : plain;
};

const escapedCharacters: Readonly<Record<string, string>> = { n: '\n', r: '', t: '\t' };

/** Frames without a line of a type before them */
const firstFrame = /^(?:#\d{1,4} |\w{0,200}@\w+:\/\/)/;

/** Returns a text whose first frame, which follows a message in its line, is on a line of its own. */
const withFirstFrame = (text: string): string => {
  const colon = text.indexOf(': ');
  return colon > 0 && firstFrame.test(text.slice(colon + 2))
    ? `${text.slice(0, colon + 1)}\n${text.slice(colon + 2)}`
    : text;
};

/** Returns a text of one line with its escaped line breaks, tabs and quotes, as in a JSON string, resolved. */
const withLineBreaks = (text: string): string =>
  text.includes('\n') || !text.includes('\\n')
    ? text
    : withFirstFrame(
        text.replace(/\\(?:u([0-9a-fA-F]{4})|(["\\/nrt]))/g, (_, code: string | undefined, value: string) =>
          code === undefined ? (escapedCharacters[value] ?? value) : String.fromCharCode(Number.parseInt(code, 16)),
        ),
      );

/** What carriers write before each line: CRI, docker compose, syslog (RFC 3164, RFC 5424), journald, a time */
const prefixes: readonly RegExp[] = [
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] /,
  /^[A-Za-z0-9][\w.-]{0,63} {1,40}\| ?/,
  /^(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,255} [^\s:[\]]{1,64}(?:\[\d{1,10}\])?: /,
  /^(?:<\d{1,3}>1 )?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) \S{1,255} \S{1,48} \S{1,128} \S{1,32} - /,
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d) \S{1,255} [^\s:[\]]{1,64}(?:\[\d{1,10}\])?: /,
  /^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]? /,
];

/** Number of lines in which a prefix is looked for */
const linesWithPrefix = 6;

/** Returns lines without the prefix that all of them have, if any. A line that a runtime cut goes on in the next one. */
const withoutPrefixes = (text: string): string => {
  const written = text.split('\n', linesWithPrefix).filter((line) => line.trim() !== '');
  const [first = '', second, third = second] = written;
  if (second === undefined || third === undefined) return text;
  const prefix = prefixes.find((regExp) => regExp.test(first) && regExp.test(second) && regExp.test(third));
  if (prefix === undefined) return text;
  let plain = '';
  for (const line of text.split('\n')) {
    const start = prefix.exec(line)?.[0] ?? '';
    plain += `${line.slice(start.length)}${start.endsWith(' P ') ? '' : '\n'}`;
  }
  return plain.slice(0, -1);
};

/** Contents of data URLs, which may be longer than all other text of a line */
const dataUrl = /\bdata:([\w.+-]{1,40}\/[\w.+-]{1,40})[;,][\w+/=%;,.-]*/g;

/** Returns a stack as its runtime printed it. Texts that no carrier changed are returned as they are. */
export const toPlainStack = (text: string): string => {
  const plain = withoutPrefixes(withoutColours(withLineBreaks(text)));
  return plain.includes('data:') ? plain.replace(dataUrl, 'data:$1') : plain;
};
