import { z } from 'zod';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import { packBytes } from '../../../runtime/packed-bytes.ts';
import type { DemoSender } from '../../../schemas/ports/demo.ts';
import { LicenseKeyFields, licenseKeys } from '../../../schemas/resources/license-key.ts';
import { projects } from '../../../schemas/resources/project.ts';
import { vulnerabilitySourceParts, vulnerabilitySources } from '../../../schemas/resources/vulnerability-source.ts';
import { computeSourceId } from '../../../subjects/vulnerabilities/sources.ts';
import { ApiError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createKey } from '../license-keys/create-key.ts';
import { importReport } from '../security/import-vulnerabilities.ts';
import { demoReport, demoReportScanner, demoReportTarget } from './demo-report.ts';

/** Project of the demo data, so that it can be distinguished and deleted */
const demoProjectId = 'demo';
const dayMs = 86_400_000;

const DemoView = z.strictObject({
  isAvailable: z.boolean().describe('Whether this installation can load demo data: one process must run all roles'),
  isLoaded: z.boolean().describe('Whether the project of the demo data exists'),
  projectId: z.string().describe('Project of the demo data'),
  sending: z
    .strictObject({ startedAt: z.iso.datetime(), endsAt: z.iso.datetime() })
    .nullable()
    .describe('null while nothing is sent'),
});

const toSendingView = (demo: DemoSender | undefined) => {
  const status = demo?.getStatus();
  if (status === undefined) return null;
  return {
    startedAt: new Date(status.startedAtMs).toISOString(),
    endsAt: new Date(status.endsAtMs).toISOString(),
  };
};

const requireDemoSender = (demo: DemoSender | undefined): DemoSender => {
  if (demo === undefined)
    throw new ApiError('CONFLICT', 'demo data needs an installation whose single process runs all roles: run oiq demo');
  return demo;
};

export const showDemo = defineOperation({
  method: 'GET',
  path: '/api/onboarding/demo',
  operationId: 'getDemoData',
  summary: 'Get whether demo data is available and loaded',
  role: 'viewer',
  response: DemoView,
  async handler({ caller }, { documents, demo }) {
    const project = await documents.forTenant(caller.tenantId).collection(projects).find(demoProjectId);
    return {
      isAvailable: demo !== undefined,
      isLoaded: project !== undefined,
      projectId: demoProjectId,
      sending: toSendingView(demo),
    };
  },
});

export const loadDemo = defineOperation({
  method: 'POST',
  path: '/api/onboarding/demo',
  operationId: 'loadDemoData',
  summary: 'Send telemetry of a fictional shop to a project of its own: the last hour at once, then half an hour live',
  role: 'admin',
  audit: 'demo-data.load',
  response: DemoView,
  async handler({ caller, change, signal }, { demo, clock, documents }) {
    const sender = requireDemoSender(demo);
    const fields = LicenseKeyFields.parse({
      name: 'Demo data (expires in a day)',
      expiresAt: new Date(clock.now() + dayMs).toISOString(),
    });
    const { key, document } = createKey({ ...fields, projectId: demoProjectId });
    await change(async ({ forTenant, record }) => {
      const tenant = forTenant(caller.tenantId);
      const hasProject = (await tenant.collection(projects).find(demoProjectId)) !== undefined;
      if (!hasProject)
        await tenant.collection(projects).insert({
          id: demoProjectId,
          name: 'Demo shop',
          description: 'Telemetry of a fictional shop. Delete it in Get started.',
        });
      await tenant.collection(licenseKeys).insert(document);
      record({ id: demoProjectId, name: 'Demo shop', after: { licenseKey: document.prefix } });
    });
    sender.start(key);
    await importReport(
      {
        tenantId: caller.tenantId,
        callerId: caller.actor.id,
        signal,
        change,
        content: packBytes(Buffer.from(JSON.stringify(demoReport))),
        target: demoReportTarget,
        isDryRun: false,
      },
      { documents, clock },
    );
    return { isAvailable: true, isLoaded: true, projectId: demoProjectId, sending: toSendingView(sender) };
  },
});

export const deleteDemo = defineOperation({
  method: 'DELETE',
  path: '/api/onboarding/demo',
  operationId: 'deleteDemoData',
  summary: 'Stop the demo data, and delete its telemetry, project, report and license keys',
  role: 'admin',
  audit: 'demo-data.delete',
  response: DemoView,
  async handler({ caller, change }, { demo }) {
    const sender = requireDemoSender(demo);
    await sender.stop();
    const { tenantId } = caller;
    // The project is deleted last, so that a deletion that failed can be repeated.
    await sender.erase(tenantId, demoProjectId);
    await change(async ({ forTenant, record }) => {
      const tenant = forTenant(tenantId);
      await deleteMatching(tenant.collection(licenseKeys), { projectId: demoProjectId });
      const reportId = computeSourceId('report', demoReportScanner, demoReportTarget);
      await deleteMatching(tenant.collection(vulnerabilitySourceParts), { sourceId: reportId });
      await tenant.collection(vulnerabilitySources).delete(reportId);
      await tenant.collection(projects).delete(demoProjectId);
      record({ id: demoProjectId, name: 'Demo shop', before: { project: demoProjectId } });
    });
    return { isAvailable: true, isLoaded: false, projectId: demoProjectId, sending: null };
  },
});
