/**
 * What makes two errors one group. A fingerprint is a hash of components, which are kept beside it: they are the explanation. Components
 * are a function of what was recorded alone. What changes them for errors of most kinds changes `version`, and with it every id.
 */
import { hash } from 'node:crypto';
import type { Frame, Language } from './frame.ts';
import { maskedMessage } from './message.ts';
import { Remembered } from './remembered.ts';
import { cutStack, readStack, type Stack } from './stack.ts';

export const version = 1;

/** Frames that are compared: those nearest to where it was raised. Browsers keep as few as ten. */
const maxFrames = 6;

/** One thing that is compared, with its text. */
export type Component = readonly [name: 'type' | 'cause' | 'frame' | 'message' | 'operation' | 'service', text: string];

/** What was recorded of an error. */
export interface Recorded {
  /** As the sender gave it; empty without one. */
  readonly type: string;
  readonly message: string;
  /** Empty without one. At most what `cutStack` keeps counts. */
  readonly stack: string;
  /** Of a span that failed without an exception: what it did, without values. */
  readonly operation?: string | undefined;
  /** A component where nothing else says which program it is. */
  readonly service?: string;
}

export interface Fingerprint {
  /** `f1-` and 16 hexadecimal digits. */
  readonly id: string;
  readonly components: readonly Component[];
  readonly language: Language | undefined;
  /** The frame to look at first, `module function`; without frames, the operation. */
  readonly culprit: string;
  /** The type without its package, as two recordings of one exception have in common. */
  readonly shortType: string;
}

const shortOf = (type: string): string =>
  type.slice(Math.max(...['.', ':', '\\', '/'].map((mark) => type.lastIndexOf(mark))) + 1);

/** Types without the numbers of anonymous classes. */
const typeName = (type: string, language: Language | undefined): string => {
  const plain = type.replace(/\$\d+/g, '$').replace(/`\d+/g, '').trim().slice(0, 200);
  // Recorded with its module or without, by who records it.
  return language === 'python' || language === 'javascript' ? shortOf(plain) : plain;
};

const textOf = ({ name: { module, function: called } }: Frame): string =>
  called === '' ? module : module === '' ? called : `${module} ${called}`;

/** What a panic ran afterwards lies above it. */
const belowPanic = (frames: readonly Frame[]): readonly Frame[] => {
  const at = frames.findLastIndex(
    ({ language, function: called }) => language === 'go' && /^(?:runtime\.go)?panic$/.test(called),
  );
  return frames.slice(at + 1);
};

/**
 * Frames that are compared. Those without a function are left out where others have one, since runtimes disagree about them; a function
 * that calls itself, also through one other, counts once.
 */
const comparedOf = (frames: readonly Frame[]): string[] => {
  const isNamed = frames.some(({ name }) => name.function !== '');
  const texts: string[] = [];
  for (const frame of frames) {
    const text = textOf(frame);
    if (text === '' || (isNamed && frame.name.function === '')) continue;
    texts.push(text);
    const [one, two, three, four] = texts.slice(-4);
    if (texts.at(-2) === text) texts.length -= 1;
    else if (four !== undefined && one === three && two === four) texts.length -= 2;
    if (texts.length > maxFrames + 2) break;
  }
  return texts.slice(0, maxFrames);
};

/** The frames of the innermost cause that has some of the program itself; else those of libraries. */
const framesOf = ({ chain }: Stack): readonly Frame[] => {
  const read = chain.map(({ frames }) => belowPanic(frames).filter(({ name }) => !name.isGlue));
  const own = read.map((frames) => frames.filter(({ name }) => name.isInApp));
  return own.findLast((frames) => frames.length > 0) ?? read.findLast((frames) => frames.length > 0) ?? [];
};

/** Stacks that tell nothing but a file: those of minified code. */
const isUninformative = (frames: readonly Frame[]): boolean =>
  frames.every(({ language, name }) => language === 'javascript' && name.function === '');

/** Modules that programs of all kinds have: Go's package `main`, a file of a usual name at the root or in a usual folder of an image. */
const ofAnyProgram =
  /^(?:main|Main|App|Application|Program|(?:(?:api|app|build|code|dist|function|server|src|srv|task|workspace)\/)?(?:__main__|app|handler|index|lambda_function|main|server|wsgi)\.\w{1,4})$/;

/** Whether nothing that is compared says which program it is. */
const isOfAnyProgram = (compared: readonly string[]): boolean =>
  compared.every((text) => ofAnyProgram.test(text.split(' ', 1)[0] ?? ''));

const idOf = (components: readonly Component[]): string =>
  `f${version}-${hash('sha256', JSON.stringify(components), 'hex').slice(0, 16)}`;

/** What of a stack is compared. */
interface Compared {
  /** No other has it. */
  readonly number: number;
  readonly language: Language | undefined;
  /** Of the chain. */
  readonly types: readonly string[];
  readonly frames: readonly string[];
  readonly isUninformative: boolean;
}

let read = 0;
const comparedIn = (stack: string): Compared => {
  const { language, chain } = readStack(stack);
  const frames = framesOf({ language, chain });
  const types = chain.map(({ type }) => type);
  return { number: read++, language, types, frames: comparedOf(frames), isUninformative: isUninformative(frames) };
};

const made = (
  { language, types, frames }: Compared,
  { type, mask, operation, service }: Readonly<Record<'type' | 'mask' | 'operation' | 'service', string>>,
): Fingerprint => {
  const components: Component[] = [];
  const add = (name: Component[0], text: string): void => {
    if (text !== '') components.push([name, text]);
  };
  const own = typeName(type === '' ? (types[0] ?? '') : type, language);
  add('type', own);
  for (const cause of types.slice(1)) add('cause', typeName(cause, language));
  for (const text of frames) add('frame', text);
  add('message', mask);
  if (frames.length === 0) add('operation', operation);
  const isOperationAlone = components.every(([name]) => name === 'operation');
  if (frames.length > 0 ? isOfAnyProgram(frames) : isOperationAlone) add('service', service);
  return {
    id: idOf(components),
    components,
    language,
    culprit: frames[0] ?? operation,
    shortType: shortOf(own),
  };
};

const stacks = new Remembered<Compared>(2 ** 20);
const fingerprints = new Remembered<Fingerprint>(2 ** 20);

/** The fingerprint of an error: its types and frames; without frames, its types and its message without values. */
export const fingerprintOf = ({ type, message, stack, operation = '', service = '' }: Recorded): Fingerprint => {
  const cut = cutStack(stack);
  const compared = stacks.of(cut, () => comparedIn(cut));
  const mask = compared.frames.length === 0 || compared.isUninformative ? maskedMessage(message) : '';
  const lengths = `${compared.number} ${type.length} ${mask.length} ${operation.length} `;
  return fingerprints.of(`${lengths}${type}${mask}${operation}${service}`, () =>
    made(compared, { type, mask, operation, service }),
  );
};
