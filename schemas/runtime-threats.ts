/** Events of runtime security sensors. */
import { z } from 'zod';
import { signalSeverities } from './signals.ts';

export const threatSources = ['falco', 'tetragon', 'tracee', 'kubearmor', 'opentelemetry', 'ecs', 'ocsf'] as const;

/** One event. Events with the same ID are duplicates; those with the same group are shown together. */
export const RuntimeThreat = z.strictObject({
  tenantId: z.string(),
  projectId: z.string(),
  id: z.string().describe('ID derived from the reporting record'),
  groupId: z.string(),
  recordId: z.string().describe('ID of the record for `GET /api/logs/{id}`'),
  timeMs: z.number(),
  source: z.enum(threatSources),
  rule: z.string(),
  severity: z.enum(signalSeverities),
  message: z.string(),
  service: z.string(),
  host: z.string(),
  workload: z.string().describe('Kubernetes owner or image; otherwise the host'),
  namespace: z.string(),
  pod: z.string(),
  image: z.string(),
  program: z.string(),
  commandLine: z.string(),
  target: z.string().describe('File or address; empty if there is none'),
  targetPattern: z.string().describe('Target without its changing parts'),
  user: z.string(),
  action: z.string().describe('What the sensor did, such as SIGKILL or Block'),
  techniques: z.array(z.string()).describe('ATT&CK techniques'),
});
export type RuntimeThreat = z.output<typeof RuntimeThreat>;
