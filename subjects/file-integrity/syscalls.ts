/** System calls that change files, by the number that auditd writes for each architecture */

/** Effect of a call on an existing file that it names */
export type CallEffect = 'opens' | 'changed' | 'attributes-changed' | 'links';

const effects: Readonly<Record<CallEffect, readonly string[]>> = {
  opens: ['open', 'openat', 'openat2'],
  changed: ['creat', 'truncate', 'ftruncate'],
  'attributes-changed': [
    ...['chmod', 'fchmod', 'fchmodat', 'fchmodat2', 'chown', 'fchown', 'lchown', 'fchownat'],
    ...['setxattr', 'lsetxattr', 'fsetxattr', 'removexattr', 'lremovexattr', 'fremovexattr'],
    ...['utime', 'utimes', 'futimesat', 'utimensat'],
  ],
  // The path records contain the created, removed or renamed files.
  links: [
    ...['rename', 'renameat', 'renameat2', 'unlink', 'unlinkat', 'rmdir', 'mkdir', 'mkdirat', 'mknod', 'mknodat'],
    ...['link', 'linkat', 'symlink', 'symlinkat'],
  ],
};

const effectByName: ReadonlyMap<string, CallEffect> = new Map(
  (Object.entries(effects) as [CallEffect, readonly string[]][]).flatMap(([effect, names]) =>
    names.map((name) => [name, effect] as const),
  ),
);

/** Architectures in the form of `arch=`: x86_64 and aarch64 */
const callNumbers: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  c000003e: {
    open: 2,
    openat: 257,
    openat2: 437,
    creat: 85,
    truncate: 76,
    ftruncate: 77,
    chmod: 90,
    fchmod: 91,
    fchmodat: 268,
    fchmodat2: 452,
    chown: 92,
    fchown: 93,
    lchown: 94,
    fchownat: 260,
    setxattr: 188,
    lsetxattr: 189,
    fsetxattr: 190,
    removexattr: 197,
    lremovexattr: 198,
    fremovexattr: 199,
    utime: 132,
    utimes: 235,
    futimesat: 261,
    utimensat: 280,
    rename: 82,
    renameat: 264,
    renameat2: 316,
    unlink: 87,
    unlinkat: 263,
    rmdir: 84,
    mkdir: 83,
    mkdirat: 258,
    mknod: 133,
    mknodat: 259,
    link: 86,
    linkat: 265,
    symlink: 88,
    symlinkat: 266,
  },
  c00000b7: {
    openat: 56,
    openat2: 437,
    truncate: 45,
    ftruncate: 46,
    fchmod: 52,
    fchmodat: 53,
    fchmodat2: 452,
    fchownat: 54,
    fchown: 55,
    setxattr: 5,
    lsetxattr: 6,
    fsetxattr: 7,
    removexattr: 14,
    lremovexattr: 15,
    fremovexattr: 16,
    utimensat: 88,
    renameat: 38,
    renameat2: 276,
    unlinkat: 35,
    mkdirat: 34,
    mknodat: 33,
    linkat: 37,
    symlinkat: 36,
  },
};

const nameByNumber: ReadonlyMap<string, string> = new Map(
  Object.entries(callNumbers).flatMap(([arch, calls]) =>
    Object.entries(calls).map(([name, number]) => [`${arch} ${number}`, name] as const),
  ),
);

/** Index of the argument, from 0, with the flags of a call that opens a file */
const flagsArgument: Readonly<Record<string, number>> = { open: 1, openat: 2 };
/** `O_WRONLY`, `O_RDWR`, `O_CREAT` and `O_TRUNC`, which are the same on both architectures */
const writeFlags = 0o1 | 0o2 | 0o100 | 0o1000;

/** Returns the effect of a SYSCALL record on an existing file; `undefined` for a call that does not change files. */
export const findEffect = (
  pairs: ReadonlyMap<string, string>,
): 'changed' | 'attributes-changed' | 'read' | 'links' | undefined => {
  const name =
    pairs.get('SYSCALL') ??
    nameByNumber.get(`${pairs.get('arch')} ${pairs.get('syscall')}`) ??
    pairs.get('syscall') ??
    '';
  const effect = effectByName.get(name);
  if (effect !== 'opens') return effect;
  const argumentIndex = flagsArgument[name];
  // The flags of `openat2` are in memory and not in the record.
  if (argumentIndex === undefined) return 'changed';
  return (Number.parseInt(pairs.get(`a${argumentIndex}`) ?? '0', 16) & writeFlags) === 0 ? 'read' : 'changed';
};
