import { runtimeThreatsTable } from '../schemas/tables/runtime-threats.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

export const runtimeThreats = defineValueSink({
  topic: topics.runtimeThreats,
  table: runtimeThreatsTable,
  row: (threat) => ({
    tenant_id: threat.tenantId,
    project_id: threat.projectId,
    id: threat.id,
    group_id: threat.groupId,
    record_id: threat.recordId,
    time: new Date(threat.timeMs).toISOString(),
    source: threat.source,
    rule: threat.rule,
    severity: threat.severity,
    message: threat.message,
    service: threat.service,
    host: threat.host,
    workload: threat.workload,
    namespace: threat.namespace,
    pod: threat.pod,
    image: threat.image,
    program: threat.program,
    command_line: threat.commandLine,
    target: threat.target,
    target_pattern: threat.targetPattern,
    user: threat.user,
    action: threat.action,
    techniques: threat.techniques,
  }),
});
