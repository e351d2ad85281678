/**
 * Fingerprints group errors. A fingerprint is a hash of components, which are stored with it as the explanation.
 * Components are a function of the recorded error alone. A change that affects errors of most kinds changes `version`,
 * and with it every id.
 */
import { hash } from 'node:crypto';
import type { Frame, Language } from './frame.ts';
import { maskMessage } from './message.ts';
import { parseStack, type Stack, truncateStack } from './stack.ts';
import { TextCache } from './text-cache.ts';

export const version = 1;

/** Maximum number of compared frames, those nearest to the raise site. Browsers record as few as ten. */
const maxFrames = 6;

/** A compared component with its text */
export type Component = readonly [
  name: 'type' | 'cause' | 'frame' | 'message' | 'operation' | 'service' | 'project',
  text: string,
];

/** A recorded error */
export interface RecordedError {
  /** Type as sent; empty if there is none */
  readonly type: string;
  readonly message: string;
  /** Stack trace; empty if there is none. Limited by `truncateStack`. */
  readonly stack: string;
  /** Operation of a span that failed without an exception, without values */
  readonly operation?: string | undefined;
  /** Components if no frame identifies the program */
  readonly service?: string;
  readonly projectId?: string;
}

export interface Fingerprint {
  /** `f1-` and 16 hexadecimal digits */
  readonly id: string;
  readonly components: readonly Component[];
  readonly language: Language | undefined;
  /** Frame to examine first, as `module function`; without frames, the operation */
  readonly culprit: string;
  /** Type without its package, which two recordings of one exception share */
  readonly shortType: string;
}

const getShortTypeName = (type: string): string =>
  type.slice(Math.max(...['.', ':', '\\', '/'].map((mark) => type.lastIndexOf(mark))) + 1);

/** Returns a type without the numbers of anonymous classes. */
const normalizeTypeName = (type: string, language: Language | undefined): string => {
  const cleanType = type.replace(/\$\d+/g, '$').replace(/`\d+/g, '').trim().slice(0, 200);
  // Recorders differ in whether they include the module.
  return language === 'python' || language === 'javascript' ? getShortTypeName(cleanType) : cleanType;
};

const formatFrame = ({ name: { module, function: functionName } }: Frame): string =>
  functionName === '' ? module : module === '' ? functionName : `${module} ${functionName}`;

/** Returns the frames below a panic in Go. Frames above it ran after the panic. */
const dropFramesAbovePanic = (frames: readonly Frame[]): readonly Frame[] => {
  const panicIndex = frames.findLastIndex(
    ({ language, function: called }) => language === 'go' && /^(?:runtime\.go)?panic$/.test(called),
  );
  return frames.slice(panicIndex + 1);
};

/**
 * Returns the frames that are compared. Frames without a function are omitted if others have one, because runtimes
 * disagree about them. A function that calls itself, also through one other function, counts once.
 */
const selectComparedFrames = (frames: readonly Frame[]): string[] => {
  const isNamed = frames.some(({ name }) => name.function !== '');
  const texts: string[] = [];
  for (const frame of frames) {
    const text = formatFrame(frame);
    if (text === '' || (isNamed && frame.name.function === '')) continue;
    texts.push(text);
    const [one, two, three, four] = texts.slice(-4);
    if (texts.at(-2) === text) texts.length -= 1;
    else if (four !== undefined && one === three && two === four) texts.length -= 2;
    if (texts.length > maxFrames + 2) break;
  }
  return texts.slice(0, maxFrames);
};

/** Returns the frames of the innermost cause that has frames of the program itself; otherwise those of libraries. */
const selectRelevantFrames = ({ chain }: Stack): readonly Frame[] => {
  const namedFrames = chain.map(({ frames }) => dropFramesAbovePanic(frames).filter(({ name }) => !name.isGlue));
  const appFrames = namedFrames.map((frames) => frames.filter(({ name }) => name.isInApp));
  return appFrames.findLast((frames) => frames.length > 0) ?? namedFrames.findLast((frames) => frames.length > 0) ?? [];
};

/** Returns whether frames contain only a file, as those of minified code do. */
const isUninformative = (frames: readonly Frame[]): boolean =>
  frames.every(({ language, name }) => language === 'javascript' && name.function === '');

/**
 * Modules that occur in many programs: Go's package `main`, or a file with a common name at the root or in a common
 * directory of an image.
 */
const genericModulePattern =
  /^(?:main|Main|App|Application|Program|(?:(?:api|app|build|code|dist|function|server|src|srv|task|workspace)\/)?(?:__main__|app|handler|index|lambda_function|main|server|wsgi)\.\w{1,4})$/;

/** Returns whether no compared component identifies the program. */
const isGeneric = (compared: readonly string[]): boolean =>
  compared.every((text) => genericModulePattern.test(text.split(' ', 1)[0] ?? ''));

const computeFingerprintId = (components: readonly Component[]): string =>
  `f${version}-${hash('sha256', JSON.stringify(components), 'hex').slice(0, 16)}`;

/** Compared parts of a stack */
interface ComparedStack {
  /** Unique number */
  readonly number: number;
  readonly language: Language | undefined;
  /** Types of the cause chain */
  readonly types: readonly string[];
  readonly frames: readonly string[];
  readonly isUninformative: boolean;
}

let parsedStackCount = 0;
const parseComparedStack = (stack: string): ComparedStack => {
  const { language, chain } = parseStack(stack);
  const frames = selectRelevantFrames({ language, chain });
  const types = chain.map(({ type }) => type);
  return {
    number: parsedStackCount++,
    language,
    types,
    frames: selectComparedFrames(frames),
    isUninformative: isUninformative(frames),
  };
};

const createFingerprint = (
  { language, types, frames }: ComparedStack,
  {
    type,
    mask,
    operation,
    service,
    projectId,
  }: Readonly<Record<'type' | 'mask' | 'operation' | 'service' | 'projectId', string>>,
): Fingerprint => {
  const components: Component[] = [];
  const addComponent = (name: Component[0], text: string): void => {
    if (text !== '') components.push([name, text]);
  };
  const shortenedType = normalizeTypeName(type === '' ? (types[0] ?? '') : type, language);
  addComponent('type', shortenedType);
  for (const cause of types.slice(1)) addComponent('cause', normalizeTypeName(cause, language));
  for (const text of frames) addComponent('frame', text);
  addComponent('message', mask);
  if (frames.length === 0) addComponent('operation', operation);
  if (isGeneric(frames)) addComponent('service', service);
  // The same message in programs that have nothing else in common is not one error.
  if (frames.length === 0) addComponent('project', projectId);
  return {
    id: computeFingerprintId(components),
    components,
    language,
    culprit: frames[0] ?? operation,
    shortType: getShortTypeName(shortenedType),
  };
};

const stacks = new TextCache<ComparedStack>(2 ** 20);
const fingerprints = new TextCache<Fingerprint>(2 ** 20);

/**
 * Returns the fingerprint of an error: its types and frames; without frames, its types, its message without values, its
 * service and its project.
 */
export const computeFingerprint = ({
  type,
  message,
  stack,
  operation = '',
  service = '',
  projectId = '',
}: RecordedError): Fingerprint => {
  const truncatedStack = truncateStack(stack);
  const compared = stacks.getOrCreate(truncatedStack, () => parseComparedStack(truncatedStack));
  const mask = compared.frames.length === 0 || compared.isUninformative ? maskMessage(message) : '';
  const lengths = `${compared.number} ${type.length} ${mask.length} ${operation.length} ${service.length} `;
  return fingerprints.getOrCreate(`${lengths}${type}${mask}${operation}${service}${projectId}`, () =>
    createFingerprint(compared, { type, mask, operation, service, projectId }),
  );
};
