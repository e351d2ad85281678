import { fileChangesTable, packageChangesTable } from '../schemas/tables/file-changes.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

export const fileChanges = defineValueSink({
  topic: topics.fileChanges,
  table: fileChangesTable,
  row: (change) => ({
    tenant_id: change.tenantId,
    project_id: change.projectId,
    id: change.id,
    record_id: change.recordId,
    time: new Date(change.timeMs).toISOString(),
    service: change.service,
    source: change.source,
    action: change.action,
    path: change.path,
    path_before: change.pathBefore,
    host: change.host,
    user: change.user,
    process: change.process,
    process_id: change.processId,
    before: { ...change.before } as Record<string, string>,
    after: { ...change.after } as Record<string, string>,
    changed: change.changed,
    rule: change.rule,
  }),
});

export const packageChanges = defineValueSink({
  topic: topics.packageChanges,
  table: packageChangesTable,
  row: (change) => ({
    tenant_id: change.tenantId,
    project_id: change.projectId,
    id: change.id,
    record_id: change.recordId,
    time: new Date(change.timeMs).toISOString(),
    host: change.host,
    manager: change.manager,
    action: change.action,
    package: change.package,
    version: change.version,
  }),
});
