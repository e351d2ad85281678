/** Linux field tables: auditd, syslog and their shippers */
import type { FieldTable } from './table.ts';

const auditTypes = [
  'execve',
  'syscall',
  'path',
  'cwd',
  'proctitle',
  'user_cmd',
  'sockaddr',
  'service_stop',
  'service_start',
  'bprm_fcaps',
  'socket',
];

export const linuxTables: readonly FieldTable[] = [
  {
    name: 'auditd',
    summary: 'Records of the Linux audit daemon, raw or shipped by Auditbeat and others',
    rules: [{ product: 'linux', service: 'auditd' }],
    roots: ['auditd.data', 'auditd.log', 'auditd', 'audit'],
    fields: {
      type: ['type', 'record_type', 'auditd.message_type', 'auditd.log.record_type'],
      exe: ['exe', 'process.executable'],
      comm: ['comm', 'process.name'],
      proctitle: ['proctitle', 'process.title'],
      name: ['name', 'file.path', 'auditd.summary.object.primary'],
      key: ['key', 'tags'],
      syscall: ['syscall', 'auditd.data.syscall', 'SYSCALL'],
      uid: ['uid', 'user.id'],
      auid: ['auid', 'user.audit.id'],
      cwd: ['cwd', 'process.working_directory'],
    },
    sources: [
      {
        when: [
          { names: ['type'], values: auditTypes },
          { names: ['msg', 'audit_id', 'auid', 'a0', 'exe', 'nametype', 'cwd'] },
        ],
        is: { product: 'linux', service: 'auditd' },
      },
      {
        when: [{ names: ['auditd.log.record_type', 'auditd.message_type', 'auditd.data.syscall'] }],
        is: { product: 'linux', service: 'auditd' },
      },
    ],
  },
  {
    name: 'linux-process-creation',
    summary: 'Processes as auditd logs them',
    rules: [{ product: 'linux', category: 'process_creation' }],
    fields: {
      Image: ['exe'],
      CommandLine: ['proctitle'],
      CurrentDirectory: ['cwd'],
      ProcessId: ['pid'],
      ParentProcessId: ['ppid'],
      LogonId: ['ses'],
    },
  },
  {
    name: 'linux-syslog',
    summary: 'Services that log to syslog or the journal',
    rules: [{ product: 'linux' }],
    fields: {
      program: ['SYSLOG_IDENTIFIER', 'syslog.appname', 'log.syslog.appname', 'process.name', 'appname'],
      message: ['message', 'MESSAGE', 'body', 'msg'],
    },
    sources: [
      {
        when: [{ names: ['SYSLOG_IDENTIFIER', 'syslog.appname', 'appname'], values: ['sshd', 'sshd-session'] }],
        is: { product: 'linux', service: 'sshd' },
      },
      {
        when: [
          {
            names: ['SYSLOG_IDENTIFIER', 'syslog.appname', 'appname'],
            values: ['sshd', 'sshd-session', 'su', 'login'],
          },
        ],
        is: { product: 'linux', service: 'auth' },
      },
      {
        when: [{ names: ['SYSLOG_IDENTIFIER', 'syslog.appname', 'appname'], values: ['sudo'] }],
        is: { product: 'linux', service: 'sudo' },
      },
      {
        when: [{ names: ['SYSLOG_IDENTIFIER', 'syslog.appname', 'appname'], values: ['sudo'] }],
        is: { product: 'linux', service: 'auth' },
      },
      {
        when: [{ names: ['SYSLOG_IDENTIFIER', 'syslog.appname', 'appname'], values: ['cron', 'crond'] }],
        is: { product: 'linux', service: 'cron' },
      },
      { when: [{ names: ['SYSLOG_IDENTIFIER', 'syslog.appname', 'appname'] }], is: { service: 'syslog' } },
    ],
  },
];
