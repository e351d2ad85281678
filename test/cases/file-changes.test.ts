import test from 'ava';
import { fileChanges } from '../../processors/file-changes/file-changes.ts';
import type { FileChange, PackageChange } from '../../schemas/file-changes.ts';
import { topics } from '../../schemas/topics.ts';
import { parseAuditRecords } from '../../subjects/file-integrity/auditd.ts';
import { parsePackageChanges } from '../../subjects/file-integrity/packages.ts';
import { normalizeMode } from '../../subjects/file-integrity/read.ts';
import { includesHost } from '../../subjects/file-integrity/scope.ts';
import { firstMs, TaskRun } from './run-task.ts';

const repeatAsHash = (char: string): string => char.repeat(64);
const eventTimeSeconds = Math.floor(firstMs / 1000) - 10;

const attribute = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
const createRecord = (body: unknown, attributes: Readonly<Record<string, string>> = {}): object => ({
  timeUnixNano: `${firstMs}000000`,
  body: { stringValue: typeof body === 'string' ? body : JSON.stringify(body) },
  attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)),
});

const findChanges = (
  records: readonly object[],
  resource: Readonly<Record<string, string>> = { 'host.name': 'web-1' },
) => {
  const run = new TaskRun(fileChanges);
  run.logs(records, resource);
  run.tick(firstMs + 60_000);
  return {
    files: run.emitted<FileChange>(topics.fileChanges),
    packages: run.emitted<PackageChange>(topics.packageChanges),
  };
};

const wazuhAlert = (syscheck: object): object => ({
  timestamp: new Date(firstMs - 2_000).toISOString().replace('Z', '+0000'),
  rule: { level: 7, id: '550', description: 'Integrity checksum changed.' },
  agent: { id: '003', name: 'db-2', ip: '192.0.2.7' },
  manager: { name: 'siem' },
  decoder: { name: 'syscheck_integrity_changed' },
  location: 'syscheck',
  syscheck,
});

const osqueryResult = (columns: object): object => ({
  name: 'pack_integrity_file_events',
  hostIdentifier: '4c4c4544-0043-3510',
  decorations: { hostname: 'web-7' },
  unixTime: eventTimeSeconds,
  epoch: 0,
  counter: 3,
  columns,
  action: 'added',
});

const falcoAlert = (rule: string, fields: object): object => ({
  hostname: 'node-4',
  output: `${rule} (user=root)`,
  priority: 'Error',
  rule,
  source: 'syscall',
  time: new Date(firstMs - 1_000).toISOString(),
  output_fields: { 'proc.name': 'vi', 'proc.pid': 812, 'user.name': 'root', ...fields },
});

type ExpectedChange = Partial<FileChange>;
/** Records, and the change that each must give. */
const cases: readonly (readonly [title: string, given: object, expectedChange: ExpectedChange])[] = [
  [
    'Wazuh: content changed, with hashes before and after',
    createRecord(
      wazuhAlert({
        path: '/etc/passwd',
        mode: 'realtime',
        event: 'modified',
        size_before: '100',
        size_after: '120',
        perm_after: 'rw-r--r--',
        uname_after: 'root',
        gname_after: 'wheel',
        sha256_before: repeatAsHash('a'),
        sha256_after: repeatAsHash('B'),
        md5_after: 'c'.repeat(32),
        changed_attributes: ['size', 'mtime', 'sha256'],
        audit: {
          user: { id: '0', name: 'root' },
          login_user: { id: '1000', name: 'ann' },
          process: { id: '77', name: '/usr/bin/vim' },
        },
      }),
    ),
    {
      source: 'wazuh',
      action: 'changed',
      path: '/etc/passwd',
      host: 'db-2',
      user: 'ann',
      process: '/usr/bin/vim',
      processId: '77',
      timeMs: firstMs - 2_000,
      rule: 'Integrity checksum changed.',
      before: { sha256: repeatAsHash('a'), size: '100' },
      after: {
        sha256: repeatAsHash('b'),
        md5: 'c'.repeat(32),
        mode: '0644',
        owner: 'root',
        group: 'wheel',
        size: '120',
      },
      changed: ['size', 'mtime', 'sha256'],
    },
  ],
  [
    'Wazuh: only attributes changed',
    createRecord(
      wazuhAlert({
        path: '/etc/shadow',
        event: 'modified',
        perm_after: 'rw-rw-rw-',
        changed_attributes: ['permission'],
      }),
    ),
    { action: 'attributes-changed', path: '/etc/shadow', after: { mode: '0666' } },
  ],
  [
    'Wazuh: added to the Windows registry',
    createRecord(wazuhAlert({ path: 'HKEY_LOCAL_MACHINE\\Software\\Run', event: 'added', md5_after: 'd'.repeat(32) })),
    { action: 'created', path: 'HKEY_LOCAL_MACHINE\\Software\\Run' },
  ],
  [
    'Wazuh: deleted; the state after the deletion is empty',
    createRecord(wazuhAlert({ path: '/etc/motd', event: 'deleted', sha256_after: repeatAsHash('a') })),
    { action: 'deleted', path: '/etc/motd', after: {} },
  ],
  [
    'Wazuh: as attributes that a collector parsed',
    createRecord('ossec', {
      'syscheck.path': '/etc/hosts',
      'syscheck.event': 'modified',
      'syscheck.sha256_after': repeatAsHash('e'),
      'agent.name': 'db-3',
    }),
    { source: 'wazuh', action: 'changed', path: '/etc/hosts', host: 'db-3', after: { sha256: repeatAsHash('e') } },
  ],
  [
    'osquery: file_events',
    createRecord(
      osqueryResult({
        target_path: '/etc/ssh/sshd_config',
        category: 'etc',
        action: 'UPDATED',
        transaction_id: '0',
        uid: '0',
        gid: '0',
        mode: '0600',
        size: '3300',
        sha256: repeatAsHash('1'),
        md5: '2'.repeat(32),
        hashed: '1',
        time: String(eventTimeSeconds),
      }),
    ),
    {
      source: 'osquery',
      action: 'changed',
      path: '/etc/ssh/sshd_config',
      host: 'web-7',
      rule: 'etc',
      timeMs: eventTimeSeconds * 1000,
      after: { sha256: repeatAsHash('1'), md5: '2'.repeat(32), mode: '0600', owner: '0', group: '0', size: '3300' },
    },
  ],
  ...(
    [
      ['CREATED', 'created'],
      ['DELETED', 'deleted'],
      ['MOVED_TO', 'renamed'],
      ['MOVED_FROM', 'deleted'],
      ['ATTRIBUTES_MODIFIED', 'attributes-changed'],
      ['OPENED', 'read'],
      ['ACCESSED', 'read'],
    ] as const
  ).map(
    ([action, expectedAction]) =>
      [
        `osquery: ${action} is ${expectedAction}`,
        createRecord(osqueryResult({ target_path: '/etc/x', category: 'etc', action })),
        { action: expectedAction, path: '/etc/x' },
      ] as const,
  ),
  [
    'osquery: process_file_events, a rename',
    createRecord(
      osqueryResult({
        operation: 'rename',
        pid: '99',
        executable: '/usr/bin/mv',
        path: '/etc/a',
        dest_path: '/etc/b',
        uid: '0',
        auid: '1000',
        time: String(eventTimeSeconds),
      }),
    ),
    { action: 'renamed', path: '/etc/b', pathBefore: '/etc/a', process: '/usr/bin/mv', processId: '99', user: '1000' },
  ],
  [
    'osquery: process_file_events, a write',
    createRecord(
      osqueryResult({
        operation: 'write',
        pid: '9',
        executable: '/usr/bin/tee',
        path: '/etc/a',
        dest_path: '',
        uid: '0',
      }),
    ),
    { action: 'changed', path: '/etc/a', pathBefore: '', process: '/usr/bin/tee' },
  ],
  [
    'Falco: a file below /etc opened for writing',
    createRecord(falcoAlert('Write below etc', { 'fd.name': '/etc/sudoers', 'evt.type': 'openat' })),
    {
      source: 'falco',
      action: 'changed',
      path: '/etc/sudoers',
      host: 'node-4',
      user: 'root',
      process: 'vi',
      processId: '812',
      rule: 'Write below etc',
      timeMs: firstMs - 1_000,
    },
  ],
  [
    'Falco: the same call, for reading',
    createRecord(falcoAlert('Read sensitive file untrusted', { 'fd.name': '/etc/shadow', 'evt.type': 'openat' })),
    { action: 'read', path: '/etc/shadow' },
  ],
  [
    'Falco: open flags take precedence over the rule name',
    createRecord(
      falcoAlert('Read it', {
        'fd.name': '/etc/x',
        'evt.type': 'openat',
        'evt.arg.flags': 'O_CREAT|O_WRONLY|FD_UPPER|F_CREATED',
      }),
    ),
    { action: 'created' },
  ],
  [
    'Falco: a rename with both paths',
    createRecord(
      falcoAlert('Rename', { 'evt.type': 'renameat2', 'fs.path.source': '/etc/a', 'fs.path.target': '/etc/b' }),
    ),
    { action: 'renamed', path: '/etc/b', pathBefore: '/etc/a' },
  ],
  [
    'Falco: removal and mode',
    createRecord(falcoAlert('Unlink', { 'evt.type': 'unlinkat', 'fs.path.name': '/var/log/auth.log' })),
    { action: 'deleted', path: '/var/log/auth.log' },
  ],
  [
    'Falco: JSON after a syslog header',
    createRecord(
      `<13>Jan  1 00:00:00 node-4 falco[88]: ${JSON.stringify(falcoAlert('Write below etc', { 'fd.name': '/etc/x', 'evt.type': 'open' }))}`,
    ),
    { source: 'falco', action: 'changed', path: '/etc/x', host: 'node-4' },
  ],
  [
    'OpenTelemetry: attributes of the semantic conventions',
    createRecord('file changed', {
      'event.action': 'modified',
      'file.path': '/opt/app/config.yaml',
      'file.mode': '0640',
      'file.size': '81',
      'file.owner.name': 'app',
      'file.group.name': 'app',
      'process.executable.path': '/usr/bin/sed',
      'user.name': 'ben',
      'file.hash.sha256': repeatAsHash('9'),
      'process.pid': '5',
    }),
    {
      source: 'opentelemetry',
      action: 'changed',
      path: '/opt/app/config.yaml',
      host: 'web-1',
      user: 'ben',
      process: '/usr/bin/sed',
      processId: '5',
      timeMs: firstMs,
      after: { sha256: repeatAsHash('9'), mode: '0640', owner: 'app', group: 'app', size: '81' },
    },
  ],
  [
    'OpenTelemetry: the event name determines the action',
    { ...createRecord('x', { 'file.path': '/opt/app/new' }), eventName: 'file.created' },
    { action: 'created', path: '/opt/app/new' },
  ],
  [
    'Elastic Common Schema, as a body',
    createRecord({
      event: { module: 'file_integrity', action: ['attributes_modified'], type: ['change'] },
      host: { name: 'elk-1' },
      file: { path: '/bin/ls', mode: '0755', hash: { sha256: repeatAsHash('7') }, owner: 'root' },
    }),
    {
      source: 'opentelemetry',
      action: 'attributes-changed',
      path: '/bin/ls',
      host: 'elk-1',
      after: { sha256: repeatAsHash('7'), mode: '0755', owner: 'root' },
    },
  ],
];

for (const [title, given, expected] of cases)
  test(title, (t) => {
    const { files } = findChanges([given]);
    t.is(files.length, 1);
    t.like(files[0], expected);
  });

test('each row of an osquery batch is a change', (t) => {
  const { columns: _, action: _action, ...head } = osqueryResult({}) as Record<string, unknown>;
  const row = (path: string, action: string): object => ({ target_path: path, action, category: 'etc' });
  const { files } = findChanges([
    createRecord({
      ...head,
      diffResults: { added: [row('/etc/a', 'CREATED'), row('/etc/b', 'DELETED')], removed: [] },
    }),
  ]);
  t.deepEqual(
    files.map(({ path, action }) => [path, action]),
    [
      ['/etc/a', 'created'],
      ['/etc/b', 'deleted'],
    ],
  );
  t.is(new Set(files.map(({ id }) => id)).size, 2);
});

test('unrelated records yield no changes', (t) => {
  const unrelatedRecords = [
    createRecord('a plain line about the file /etc/passwd'),
    createRecord('read config', { 'file.path': '/etc/app.yaml' }),
    createRecord('tail', { 'log.file.path': '/var/log/x', 'event.action': 'created' }),
    createRecord(falcoAlert('Terminal shell in container', { 'evt.type': 'execve', 'proc.name': 'bash' })),
    createRecord(falcoAlert('Outbound', { 'evt.type': 'connect', 'fd.name': '10.0.0.1:443->10.0.0.2:80' })),
    createRecord({ file: { name: 'x.go' }, level: 'info' }),
    createRecord('{"syscheck": {"path": "/etc/x", "event": "modi'),
    createRecord('Updated: the cart of ann'),
  ];
  t.deepEqual(findChanges(unrelatedRecords), { files: [], packages: [] });
});

test('a timestamp far in the future or past is ignored', (t) => {
  const past = findChanges([
    createRecord(osqueryResult({ target_path: '/etc/x', action: 'UPDATED', time: '1500000000' })),
  ]);
  t.is(past.files[0]?.timeMs, firstMs);
  const { files } = findChanges([
    createRecord(osqueryResult({ target_path: '/etc/x', action: 'UPDATED', time: '4102444800' })),
  ]);
  t.is(files[0]?.timeMs, firstMs);
});

const serial = (number: number): string => `msg=audit(${eventTimeSeconds}.250:${number})`;
const syscall = (number: number, rest: string): string =>
  `type=SYSCALL ${serial(number)}: arch=c000003e ${rest} ppid=700 pid=701 auid=1000 uid=0 gid=0 comm="vim" exe="/usr/bin/vim" key="identity"\x1dARCH=x86_64 AUID="ann" UID="root"`;
const cwd = (number: number): string => `type=CWD ${serial(number)}: cwd="/etc"`;
const path = (number: number, item: number, name: string, nametype: string): string =>
  `type=PATH ${serial(number)}: item=${item} name=${name} inode=17 dev=fd:00 mode=0100644 ouid=0 ogid=0 rdev=00:00 nametype=${nametype} cap_fp=0 cap_fe=0`;

/** Lines of auditd, one per record, and the changes that they must give. */
const auditdCases: readonly (readonly [
  title: string,
  lines: readonly string[],
  expectedChange: readonly ExpectedChange[],
])[] = [
  [
    'auditd: a file opened for writing',
    [
      syscall(1, 'syscall=257 success=yes exit=3 a0=ffffff9c a1=55 a2=241 a3=1b6 items=1'),
      cwd(1),
      path(1, 0, '"/etc/passwd"', 'NORMAL'),
    ],
    [
      {
        source: 'auditd',
        action: 'changed',
        path: '/etc/passwd',
        host: 'web-1',
        user: 'ann',
        process: '/usr/bin/vim',
        processId: '701',
        rule: 'identity',
        timeMs: eventTimeSeconds * 1000 + 250,
        after: { mode: '0644', owner: '0', group: '0' },
      },
    ],
  ],
  [
    'auditd: a file opened for reading',
    [
      syscall(2, 'syscall=257 success=yes exit=3 a0=ffffff9c a1=55 a2=0 a3=0 items=1'),
      path(2, 0, '"/etc/shadow"', 'NORMAL'),
    ],
    [{ action: 'read', path: '/etc/shadow' }],
  ],
  [
    'auditd: a relative path of a new file, joined with its directory',
    [
      syscall(3, 'syscall=2 success=yes exit=3 a0=55 a1=41 a2=1b6 a3=0 items=2'),
      cwd(3),
      path(3, 0, '"."', 'PARENT'),
      path(3, 1, '"../etc/./new file"', 'CREATE'),
    ],
    [{ action: 'created', path: '/etc/new file' }],
  ],
  [
    'auditd: a name in hexadecimal',
    [
      syscall(4, 'syscall=263 success=yes exit=0 a0=0 a1=5 a2=0 a3=0 items=2'),
      path(4, 0, '"/etc/"', 'PARENT'),
      path(4, 1, '2F6574632F612062', 'DELETE'),
    ],
    [{ action: 'deleted', path: '/etc/a b', after: {} }],
  ],
  [
    'auditd: a rename is one change',
    [
      syscall(5, 'syscall=82 success=yes exit=0 a0=1 a1=2 a2=0 a3=0 items=4'),
      path(5, 0, '"/etc/"', 'PARENT'),
      path(5, 1, '"/etc/"', 'PARENT'),
      path(5, 2, '"/etc/a"', 'DELETE'),
      path(5, 3, '"/etc/b"', 'CREATE'),
    ],
    [{ action: 'renamed', path: '/etc/b', pathBefore: '/etc/a' }],
  ],
  [
    'auditd: a mode change',
    [syscall(6, 'syscall=268 success=yes exit=0 a0=0 a1=1 a2=1ff a3=0 items=1'), path(6, 0, '"/usr/bin/su"', 'NORMAL')],
    [{ action: 'attributes-changed', path: '/usr/bin/su' }],
  ],
  [
    'auditd: a failed call gives no change',
    [
      syscall(7, 'syscall=257 success=no exit=-13 a0=0 a1=1 a2=241 a3=0 items=1'),
      path(7, 0, '"/etc/passwd"', 'NORMAL'),
    ],
    [],
  ],
  [
    'auditd: executing a program is not a change',
    [syscall(8, 'syscall=59 success=yes exit=0 a0=0 a1=1 a2=2 a3=3 items=1'), path(8, 0, '"/usr/bin/ls"', 'NORMAL')],
    [],
  ],
  [
    'auditd: paths arrive before their call, and an incomplete event is emitted after a timeout',
    [
      path(9, 0, '"/etc/late"', 'CREATE'),
      path(10, 0, '"/etc/alone"', 'DELETE'),
      syscall(9, 'syscall=85 success=yes exit=0 a0=1 a1=1 a2=2 a3=3 items=1'),
    ],
    [
      { action: 'created', path: '/etc/late', user: 'ann' },
      { action: 'deleted', path: '/etc/alone', user: '' },
    ],
  ],
];

for (const [title, lines, expected] of auditdCases) {
  test(title, (t) => {
    const { files } = findChanges(lines.map((line) => createRecord(line)));
    t.is(files.length, expected.length);
    for (const [index, change] of expected.entries()) t.like(files[index], change);
  });
  test(`${title}, in one body`, (t) => {
    const { files } = findChanges([createRecord(lines.map((line) => `node=web-9 ${line}`).join('\n'))]);
    t.deepEqual(
      files.map(({ action, path: of, host }) => [action, of, host]),
      expected.map(({ action, path: of }) => [action, of, 'web-9']),
    );
  });
}

test('records of one auditd event are joined across batches and a restart', (t) => {
  const run = new TaskRun(fileChanges);
  const [call = '', ...rest] = auditdCases[0]?.[1] ?? [];
  run.logs([createRecord(call)], { 'host.name': 'web-1' });
  run.restart();
  run.logs(
    rest.map((line) => createRecord(line)),
    { 'host.name': 'web-1' },
  );
  t.like(run.emitted<FileChange>(topics.fileChanges)[0], { path: '/etc/passwd', user: 'ann' });
  run.tick(firstMs + 60_000);
  t.is(run.emitted(topics.fileChanges).length, 1);
});

type Package = Partial<PackageChange>;
const packageCases: readonly (readonly [line: string, expectedChange: readonly Package[]])[] = [
  [
    '2026-01-01 10:00:00 upgrade nginx:amd64 1.18.0-6 1.18.0-7',
    [{ manager: 'dpkg', action: 'upgraded', package: 'nginx', version: '1.18.0-7' }],
  ],
  [
    '2026-01-01 10:00:00 install curl:amd64 <none> 8.5.0-2',
    [{ manager: 'dpkg', action: 'installed', package: 'curl', version: '8.5.0-2' }],
  ],
  [
    '2026-01-01 10:00:01 status installed nginx:amd64 1.18.0-7',
    [{ manager: 'dpkg', action: 'installed', package: 'nginx', version: '1.18.0-7' }],
  ],
  ['2026-01-01 10:00:01 remove nano:amd64 7.2-1 <none>', [{ manager: 'dpkg', action: 'removed', package: 'nano' }]],
  [
    'Upgrade: libssl3:amd64 (3.0.2-0, 3.0.2-1), openssl:amd64 (3.0.2-0, 3.0.2-1)',
    [
      { manager: 'apt', action: 'upgraded', package: 'libssl3', version: '3.0.2-1' },
      { manager: 'apt', action: 'upgraded', package: 'openssl', version: '3.0.2-1' },
    ],
  ],
  [
    '2026-01-01T10:00:00+0000 SUBDEBUG Installed: openssl-libs-1:3.0.7-25.el9.x86_64',
    [{ manager: 'dnf', action: 'installed', package: 'openssl-libs', version: '1:3.0.7-25.el9.x86_64' }],
  ],
  [
    'Jan 01 10:00:00 Updated: firewalld-0.3.9.3-1.el7.noarch',
    [{ manager: 'yum', action: 'upgraded', package: 'firewalld' }],
  ],
  [
    '[2026-01-01T10:00:00+0000] [ALPM] upgraded linux (6.6.1-1 -> 6.6.2-1)',
    [{ manager: 'pacman', action: 'upgraded', package: 'linux', version: '6.6.2-1' }],
  ],
  [
    '2026-01-01 10:00:00|install|amarok|1.4.10-100|x86_64|root@h|main|ab',
    [{ manager: 'zypper', action: 'installed', package: 'amarok', version: '1.4.10-100' }],
  ],
  [
    `type=SOFTWARE_UPDATE msg=audit(${eventTimeSeconds}.100:77): pid=1 uid=0 auid=1000 ses=2 msg='op=install sw="nginx-1:1.20.1-14.el9.x86_64" sw_type=rpm key_enforce=0 gpg_res=1 root_dir="/" comm="dnf" exe="/usr/bin/python3.9" hostname=web-1 addr=? terminal=pts/0 res=success'`,
    [
      {
        manager: 'rpm',
        action: 'installed',
        package: 'nginx',
        version: '1:1.20.1-14.el9.x86_64',
        timeMs: eventTimeSeconds * 1000 + 100,
      },
    ],
  ],
];
for (const [line, expected] of packageCases)
  test(`packages: ${line.slice(0, 70)}`, (t) => {
    const { packages: changes } = findChanges([createRecord(line)]);
    t.is(changes.length, expected.length);
    for (const [at, each] of expected.entries()) t.like(changes[at], { ...each, host: 'web-1' });
  });

test('modes are octal', (t) => {
  for (const [mode, octal] of [
    ['rw-r--r--', '0644'],
    ['-rwsr-xr-x', '4755'],
    ['drwxrwxrwt', '1777'],
    ['rwSr--r--', '4644'],
    ['0100644', '0644'],
    ['755', '0755'],
    ['104755', '4755'],
    ['0o640', '0640'],
  ] as const)
    t.is(normalizeMode(mode), octal, mode);
  t.is(normalizeMode('Administrators (ALLOWED): delete'), 'Administrators (ALLOWED): delete');
});

test('host names are matched in linear time', (t) => {
  for (const [pattern, host, isCovered] of [
    ['web-*', 'web-1', true],
    ['web-*', 'db-web-1', false],
    ['*-db', 'a-db', true],
    ['*-db', 'a-db2', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['*b*c*', 'abxc', true],
    ['*c*b*', 'abxc', false],
    ['*', '', true],
    ['web.1', 'web-1', false],
  ] as const)
    t.is(includesHost({ hosts: [pattern], paths: [] }, host), isCovered, `${pattern} ${host}`);
  t.false(includesHost({ hosts: ['*a'.repeat(250)], paths: [] }, `${'a'.repeat(4_000)}b`));
});

test('a line that only resembles a package manager line is cheap to process', (t) => {
  const long = 'a-'.repeat(500_000);
  for (const line of [
    `Upgrade: ${long}`,
    `2026-01-01T00:00:00Z INFO Installed: ${long}`,
    `type=SOFTWARE_UPDATE msg=audit(1.1:1): sw=${long}`,
  ])
    t.deepEqual(parsePackageChanges(line, firstMs), []);
});

test('auditd reports a package whose name has hyphens', (t) => {
  const [packageChange] = parsePackageChanges(
    'type=SOFTWARE_UPDATE msg=audit(1.1:1): op=install sw="openssl-libs-1:3.0.7-25.el9.x86_64" sw_type=rpm',
    firstMs,
  );
  t.is(packageChange?.package, 'openssl-libs');
  t.is(packageChange?.version, '1:3.0.7-25.el9.x86_64');
});

test('auditd records can end with a carriage return', (t) => {
  const [found] = parseAuditRecords('type=CWD msg=audit(1.1:1): cwd="/srv"\r\n', firstMs);
  t.is(found?.type, 'CWD');
  t.is(found?.pairs.get('cwd'), '/srv');
});
