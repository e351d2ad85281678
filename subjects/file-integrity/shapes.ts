/** Formats in which sources report file changes. The formats are tables without code; a new source is an entry. */
import type { FileAction, FileState, fileSources } from '../../schemas/file-changes.ts';

/** Maps a source's action words to actions; the first match counts */
export type ActionWords = readonly (readonly [words: RegExp, action: FileAction])[];

/** Names of a value in events, in lookup order */
type FieldNames = readonly string[];

export interface FileChangeFormat {
  readonly source: (typeof fileSources)[number];
  /** Required values, each under one of its names */
  readonly needs: readonly FieldNames[];
  /** Paths, in addition to the top level, that contain the fields of events */
  readonly roots: FieldNames;
  readonly action: FieldNames;
  readonly words: ActionWords;
  /**
   * Determines how a file was opened if the action opens it, because it may have been opened to be read. The first name
   * that exists counts.
   */
  readonly opened?: readonly { readonly names: FieldNames; readonly words: ActionWords }[];
  /** A change of only these attributes does not change the content */
  readonly metadata?: FieldNames;
  readonly path: FieldNames;
  readonly pathBefore: FieldNames;
  readonly host: FieldNames;
  readonly user: FieldNames;
  readonly process: FieldNames;
  readonly processId: FieldNames;
  readonly rule: FieldNames;
  readonly changed: FieldNames;
  /** Time of the change: seconds since the epoch or ISO 8601. Defaults to the time of the record. */
  readonly time: FieldNames;
  readonly before: Readonly<Partial<Record<keyof FileState, FieldNames>>>;
  readonly after: Readonly<Partial<Record<keyof FileState, FieldNames>>>;
}

/** Words of system calls and of most other sources. For opened files, the mode decides. */
const defaultWords: ActionWords = [
  [/attrib|chmod|chown|xattr|permission|metadata|owner|utime/i, 'attributes-changed'],
  [/renam|mov(?:e|ed)\b|moved[_-]?to/i, 'renamed'],
  [/creat|added|\bnew\b|mkdir|mknod|link/i, 'created'],
  [/modif|chang|updat|writ|overw|truncat/i, 'changed'],
  [/delet|remov|rmdir/i, 'deleted'],
  [/read|access|open|clos/i, 'read'],
];
const removalWords: ActionWords = [[/unlink|rmdir|moved_from/i, 'deleted']];
const readWords: ActionWords = [
  [/\bread/i, 'read'],
  [/./, 'changed'],
];

export const fileChangeFormats: readonly FileChangeFormat[] = [
  {
    source: 'wazuh',
    needs: [['syscheck.path'], ['syscheck.event']],
    roots: ['data', '_source'],
    action: ['syscheck.event'],
    words: defaultWords,
    metadata: [
      'permission',
      'perm',
      'uid',
      'gid',
      'user_name',
      'group_name',
      'uname',
      'gname',
      'inode',
      'mtime',
      'win_perm',
      'attributes',
    ],
    path: ['syscheck.path'],
    pathBefore: [],
    host: ['agent.name', 'hostname', 'host.name'],
    user: ['syscheck.audit.login_user.name', 'syscheck.audit.user.name', 'syscheck.audit.effective_user.name'],
    process: ['syscheck.audit.process.name'],
    processId: ['syscheck.audit.process.id'],
    rule: ['rule.description', 'rule.id'],
    changed: ['syscheck.changed_attributes'],
    time: ['timestamp', '@timestamp'],
    before: {
      sha256: ['syscheck.sha256_before'],
      sha1: ['syscheck.sha1_before'],
      md5: ['syscheck.md5_before'],
      mode: ['syscheck.perm_before'],
      owner: ['syscheck.uname_before', 'syscheck.uid_before'],
      group: ['syscheck.gname_before', 'syscheck.gid_before'],
      size: ['syscheck.size_before'],
    },
    after: {
      sha256: ['syscheck.sha256_after'],
      sha1: ['syscheck.sha1_after'],
      md5: ['syscheck.md5_after'],
      mode: ['syscheck.perm_after'],
      owner: ['syscheck.uname_after', 'syscheck.uid_after'],
      group: ['syscheck.gname_after', 'syscheck.gid_after'],
      size: ['syscheck.size_after'],
    },
  },
  {
    source: 'osquery',
    needs: [['columns.target_path', 'target_path'], ['columns.action']],
    roots: ['osquery', 'osquery.result', '_source'],
    action: ['columns.action'],
    words: [...removalWords, ...defaultWords],
    path: ['columns.target_path', 'target_path'],
    pathBefore: [],
    host: ['decorations.hostname', 'hostname', 'hostidentifier', 'host_identifier', 'host.name'],
    user: [],
    process: [],
    processId: [],
    rule: ['columns.category'],
    changed: [],
    time: ['columns.time', 'unixtime'],
    before: {},
    after: {
      sha256: ['columns.sha256'],
      sha1: ['columns.sha1'],
      md5: ['columns.md5'],
      mode: ['columns.mode'],
      owner: ['columns.uid'],
      group: ['columns.gid'],
      size: ['columns.size'],
    },
  },
  {
    // `process_file_events`: the operation is a system call.
    source: 'osquery',
    needs: [['columns.operation'], ['columns.executable']],
    roots: ['osquery', 'osquery.result', '_source'],
    action: ['columns.operation'],
    words: [...removalWords, ...defaultWords],
    path: ['columns.dest_path', 'columns.path'],
    pathBefore: ['columns.path'],
    host: ['decorations.hostname', 'hostname', 'hostidentifier', 'host_identifier', 'host.name'],
    user: ['columns.auid', 'columns.uid'],
    process: ['columns.executable'],
    processId: ['columns.pid'],
    rule: ['name'],
    changed: [],
    time: ['columns.time', 'unixtime'],
    before: {},
    after: {},
  },
  {
    source: 'falco',
    needs: [
      ['evt.type'],
      ['fd.name', 'fs.path.name', 'fs.path.target', 'evt.arg.newpath', 'evt.arg.path', 'evt.arg.name'],
    ],
    roots: ['output_fields', 'falco.output_fields'],
    action: ['evt.type'],
    words: [...removalWords, [/^(?:open|openat|openat2|creat)$/i, 'read'], ...defaultWords],
    opened: [
      {
        names: ['evt.is_open_write'],
        words: [
          [/true|1/i, 'changed'],
          [/./, 'read'],
        ],
      },
      {
        names: ['evt.arg.flags'],
        words: [
          [/F_CREATED/, 'created'],
          [/WRONLY|RDWR|CREAT|TRUNC|APPEND/, 'changed'],
          [/./, 'read'],
        ],
      },
      { names: ['rule'], words: readWords },
    ],
    path: ['fs.path.target', 'evt.arg.newpath', 'fd.name', 'fs.path.name', 'evt.arg.path', 'evt.arg.name'],
    pathBefore: ['fs.path.source', 'evt.arg.oldpath'],
    host: ['hostname', 'evt.hostname', 'k8s.node.name', 'host.name'],
    user: ['user.loginname', 'user.name', 'user.uid'],
    process: ['proc.exepath', 'proc.name'],
    processId: ['proc.pid'],
    rule: ['rule'],
    changed: [],
    time: ['time'],
    before: {},
    after: { mode: ['evt.arg.mode'] },
  },
  {
    // Attributes of the semantic conventions and of the Elastic Common Schema, which uses the same names.
    source: 'opentelemetry',
    needs: [['file.path'], ['event.action', 'file.action', 'event.name', 'event.type']],
    roots: ['attributes'],
    action: ['event.action', 'file.action', 'event.name', 'event.type'],
    words: [...removalWords, ...defaultWords],
    path: ['file.path'],
    pathBefore: ['file.previous_path', 'file.ext.original.path', 'file.path.previous', 'file.original_path'],
    host: ['host.name', 'host.hostname', 'agent.name', 'host.id'],
    user: ['user.name', 'process.user.name', 'user.id', 'process.owner'],
    process: [
      'process.executable.path',
      'process.executable',
      'process.executable.name',
      'process.name',
      'process.command',
    ],
    processId: ['process.pid'],
    rule: ['rule.name', 'event.module', 'event.dataset'],
    changed: ['file.changed_attributes'],
    time: [],
    before: {
      sha256: ['file.previous.hash.sha256', 'file.hash.sha256.previous'],
      sha1: ['file.previous.hash.sha1'],
      md5: ['file.previous.hash.md5'],
    },
    after: {
      sha256: ['file.hash.sha256', 'hash.sha256'],
      sha1: ['file.hash.sha1', 'hash.sha1'],
      md5: ['file.hash.md5', 'hash.md5'],
      mode: ['file.mode'],
      owner: ['file.owner.name', 'file.owner', 'file.owner.id', 'file.uid'],
      group: ['file.group.name', 'file.group', 'file.group.id', 'file.gid'],
      size: ['file.size'],
    },
  },
];

/** Attributes of which a record with a change in its attributes has at least one */
export const changeAttributes: FieldNames = [
  'file.path',
  'syscheck.path',
  'syscheck',
  'columns',
  'columns.target_path',
  'output_fields',
  'fd.name',
];

/** Texts in a body that may describe a change of a file or package, with the context that the text requires */
const changePatterns: readonly (readonly [text: string, form?: string])[] = [
  ...['syscheck', 'target_path', '"executable"', 'fd.name', 'fs.path', 'evt.type', 'file_integrity', '"file.path"'].map(
    (text) => [text] as const,
  ),
  ['"file"', '"file" ?: ?\\{'],
  ...['SYSCALL', 'CWD', 'PATH', 'PROCTITLE', 'SOFTWARE_UPDATE'].map((type) => [`type=${type} `] as const),
  ...['Installed', 'Updated', 'Upgraded', 'Erased', 'Removed', 'Upgrade', 'Install', 'Remove', 'Purge'].map(
    (word) => [`${word}: `, `\\b${word}: `] as const,
  ),
  ['status installed '],
  ...['install', 'upgrade', 'remove', 'purge'].map((word) => [` ${word} `, `\\d ${word} `] as const),
  ...['install', 'remove'].map((word) => [`|${word}`, `\\|${word} *\\|`] as const),
  ['[ALPM] '],
];

/** Texts of which a body with a change contains at least one */
export const changeTexts: readonly string[] = changePatterns.map(([text]) => text);

const changeBodyPattern = new RegExp(
  changePatterns
    .map(([text, contextPattern]) => contextPattern ?? text.replaceAll(/[.[\]]/g, String.raw`\$&`))
    .join('|'),
);

/** Returns whether a body may describe a change. Most bodies with one of the texts do not. */
export const mayDescribeChange = (body: string): boolean => changeBodyPattern.test(body);
