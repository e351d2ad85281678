/**
 * Python's exception groups (PEP 654), which have a traceback and contain other exceptions, each with its own. Their
 * tracebacks are indented behind a bar.
 */

/** One exception of a group, with the exceptions in it */
export interface GroupedException {
  /** Its traceback, without bars */
  text: string;
  readonly inner: GroupedException[];
}

const begin = /^\s*\+-\+-{3,} (?:\d+|\.\.\.) -{3,}$/;
const next = /^\s*\+-{3,} (?:\d+|\.\.\.) -{3,}$/;
const end = /^\s*\+-{5,}$/;

export const isExceptionGroup = (text: string): boolean =>
  text.includes('Exception Group Traceback (most recent call last)');

/** Returns the exceptions of a traceback: the group, and in it the others. */
export const parseExceptionGroup = (text: string): GroupedException => {
  const root: GroupedException = { text: '', inner: [] };
  const open = [root];
  const add = (): void => {
    const groupedException: GroupedException = { text: '', inner: [] };
    open.at(-1)?.inner.push(groupedException);
    open.push(groupedException);
  };
  for (const line of text.split('\n')) {
    if (begin.test(line)) add();
    else if (next.test(line)) {
      if (open.length > 1) open.pop();
      add();
    } else if (end.test(line)) {
      if (open.length > 1) open.pop();
    } else (open.at(-1) as GroupedException).text += `${line.replace(/^\s*[|+] ?/, '')}\n`;
  }
  return root;
};
