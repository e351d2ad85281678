/** Whether a text, such as the input of a tool or a prompt, names a command, path or host. */
import { getProgramName } from './known-agents.ts';

const isWordCharacter = (character: string): boolean => /[\w-]/.test(character);

/** Yields the positions of a text in another. */
function* findPositions(text: string, searched: string): Generator<number, void, undefined> {
  if (searched === '') return;
  for (let position = text.indexOf(searched); position >= 0; position = text.indexOf(searched, position + 1))
    yield position;
}

const maxPositions = 200;

/** Returns whether a text contains another between texts of one and two characters that fit. */
const hasPosition = (text: string, searched: string, isMatch: (before: string, after: string) => boolean): boolean => {
  let count = 0;
  for (const position of findPositions(text, searched)) {
    const end = position + searched.length;
    if (isMatch(text.charAt(position - 1), text.slice(end, end + 2))) return true;
    if (++count >= maxPositions) return false;
  }
  return false;
};

/** A slash may end the path of a folder, but a path that goes on is another one. */
const isPathEnd = (after: string): boolean => !/^(?:[\w-]|\/[\w.-]|\.\w)/.test(after);

interface PathForms {
  readonly path: string;
  readonly workFolder: string;
  readonly forms: readonly string[];
}

/** The latest path: it is compared with the texts of many tool calls. */
let latestForms: PathForms = { path: '', workFolder: '', forms: [] };

/** Returns the forms in which texts name a path: absolute, relative to the work folder, and relative to the home folder. */
const listPathForms = (path: string, workFolder: string): readonly string[] => {
  if (latestForms.path === path && latestForms.workFolder === workFolder) return latestForms.forms;
  const forms = [path];
  if (workFolder !== '' && path.startsWith(`${workFolder}/`)) forms.push(path.slice(workFolder.length + 1));
  const home = /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root)(\/.+)/.exec(path)?.[1];
  if (home !== undefined) forms.push(`~${home}`, `$HOME${home}`);
  latestForms = { path, workFolder, forms };
  return forms;
};

/** Returns whether a text names a path. Folders that contain it do not count. */
export const mentionsPath = (text: string, path: string, workFolder: string): boolean =>
  path.length > 1 &&
  listPathForms(path, workFolder).some(
    (form) =>
      hasPosition(
        text,
        form,
        (before, after) =>
          isPathEnd(after) &&
          (form.startsWith('/') ? !/[\w~]/.test(before) : before === '/' ? false : !isWordCharacter(before)),
      ) ||
      (!form.startsWith('/') && !form.startsWith('~') && text.includes(`./${form}`)),
  );

/** Returns whether a text names a folder that contains a path, other than the work folder. */
export const mentionsFolderOf = (text: string, path: string, workFolder: string): boolean => {
  let folder = path;
  for (let depth = 0; depth < 12; depth++) {
    folder = folder.slice(0, folder.lastIndexOf('/'));
    if (folder.length <= 1 || folder === workFolder) return false;
    if (mentionsPath(text, folder, workFolder)) return true;
  }
  return false;
};

/** Returns whether a text names a host or address. A subdomain is another host. */
export const mentionsHost = (text: string, host: string): boolean =>
  host !== '' &&
  hasPosition(
    text.toLowerCase(),
    host.toLowerCase(),
    (before, after) => !/[\w.-]/.test(before) && !/^(?:[\w-]|\.\w)/.test(after),
  );

/** Programs that run another program, which follows. */
const wrappers = new Set([
  ...[
    'sudo',
    'env',
    'xargs',
    'time',
    'exec',
    'nohup',
    'nice',
    'timeout',
    'command',
    'then',
    'do',
    'else',
    'if',
    'while',
  ],
  ...['npx', 'bunx', 'uvx', 'poetry', 'run', 'eval', '-c', '-lc', '!', 'builtin', 'doas', 'watch', 'strace'],
]);
const isWrapper = (word: string): boolean =>
  word === '' ||
  wrappers.has(word) ||
  /^[A-Za-z_]\w*=/.test(word) ||
  /^-[\w-]*$/.test(word) ||
  /^\d+[smh]?$/.test(word);

/** Returns whether a text runs a program: its name is where a command begins. */
export const mentionsProgram = (text: string, program: string): boolean => {
  const name = getProgramName(program);
  if (name === '') return false;
  let count = 0;
  for (const position of findPositions(text, name)) {
    if (++count > maxPositions) return false;
    if (isWordCharacter(text.charAt(position + name.length)) || isWordCharacter(text.charAt(position - 1))) continue;
    const before = text.slice(Math.max(0, position - 512), position);
    const segment = before.slice(
      Math.max(...[...';|&(){}`\n\'"$'].map((separator) => before.lastIndexOf(separator))) + 1,
    );
    const words = segment.split(/\s+/);
    // The last word is the folder of the program, if it has one.
    const folder = words.pop() ?? '';
    if ((folder === '' || folder.endsWith('/')) && words.every(isWrapper)) return true;
  }
  return false;
};

const collapse = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/["'\\]/g, '')
    .trim();

/** Returns the arguments of a command line. */
const getArguments = (command: string): string => {
  const space = command.indexOf(' ');
  return space < 0 ? '' : command.slice(space + 1).trim();
};

const shells = new Set(['sh', 'bash', 'zsh', 'dash', 'fish', 'ksh', 'ash', 'pwsh', 'powershell', 'cmd']);
export const isShell = (program: string): boolean => shells.has(getProgramName(program));

/**
 * Returns whether a text names a command: its program, and at least half of its arguments. A shell that runs the text,
 * or a part of it, counts too.
 */
export const mentionsCommand = (text: string, program: string, command: string): boolean => {
  const line = collapse(command);
  const collapsed = collapse(text);
  const name = getProgramName(program || (line.split(' ', 1)[0] ?? ''));
  const argumentText = getArguments(line);
  if (isShell(name)) {
    const script = argumentText.replace(/^(?:-\w+ )+/, '');
    return (
      script.length > 1 &&
      (collapsed.includes(script) ||
        text.split('\n').some((part) => part.trim().length > 3 && script.includes(collapse(part))))
    );
  }
  if (!mentionsProgram(text, name)) return false;
  const words = argumentText.split(' ').filter((word) => word !== '');
  if (words.length === 0) return true;
  const found = words.filter((word) => collapsed.includes(word)).length;
  return found * 2 >= words.length;
};
