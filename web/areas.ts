/** Areas of the page in menu order. The page opens at the first one that the user may open. */
import type { listAnomalies } from '../api/groups/ai/anomalies.ts';
import type { answerQuestion } from '../api/groups/ai/query.ts';
import type { listAlerts } from '../api/groups/alerts/alerts.ts';
import type { listDashboards } from '../api/groups/dashboards/list.ts';
import type { listDatabases } from '../api/groups/databases/list.ts';
import type { listErrors } from '../api/groups/errors/list.ts';
import type { incidentResource } from '../api/groups/incidents/incident.ts';
import type { listHosts } from '../api/groups/infrastructure/hosts.ts';
import type { listClusters } from '../api/groups/kubernetes/clusters.ts';
import type { listLogs } from '../api/groups/logs/list.ts';
import type { listMetrics } from '../api/groups/metrics/list.ts';
import type { listFlows } from '../api/groups/network/flows.ts';
import type { showOnboarding } from '../api/groups/onboarding/checklist.ts';
import type { listEvents } from '../api/groups/overview/events.ts';
import type { savedQueryResource } from '../api/groups/saved-queries/saved-query.ts';
import type { listServices } from '../api/groups/services/list.ts';
import type { listSignals } from '../api/groups/siem/signals.ts';
import type { sloResource } from '../api/groups/slos/slo.ts';
import type { checkResource } from '../api/groups/synthetics/check.ts';
import type { listTraces } from '../api/groups/traces/list.ts';
import type { getUsage } from '../api/groups/usage/show.ts';
import { declareCall, declareListCall } from './client/call.ts';
import type { AreaGroup } from './frame/area.ts';

export const areaGroups: readonly AreaGroup[] = [
  {
    title: 'Health',
    areas: [
      {
        path: '/services',
        title: 'Services',
        requiredCall: declareCall<typeof listServices>('GET', '/api/services'),
        load: async () => (await import('./areas/services/services.tsx')).Services,
      },
      {
        path: '/errors',
        title: 'Errors',
        requiredCall: declareCall<typeof listErrors>('GET', '/api/errors'),
        load: async () => (await import('./areas/errors/errors.tsx')).Errors,
      },
      {
        path: '/alerts',
        title: 'Alerts',
        requiredCall: declareCall<typeof listAlerts>('GET', '/api/alerts'),
        load: async () => (await import('./areas/alerts/alerts.tsx')).Alerts,
      },
      {
        path: '/anomalies',
        title: 'Anomalies',
        requiredCall: declareCall<typeof listAnomalies>('GET', '/api/ai/anomalies'),
        load: async () => (await import('./areas/anomalies/anomalies.tsx')).Anomalies,
      },
      {
        path: '/slos',
        title: 'SLOs',
        requiredCall: declareListCall<typeof sloResource>('/api/slos'),
        load: async () => (await import('./areas/slos/slos.tsx')).Slos,
      },
      {
        path: '/checks',
        title: 'Checks',
        requiredCall: declareListCall<typeof checkResource>('/api/synthetics/checks'),
        load: async () => (await import('./areas/checks/checks.tsx')).Checks,
      },
      {
        path: '/events',
        title: 'Events',
        requiredCall: declareCall<typeof listEvents>('GET', '/api/events'),
        load: async () => (await import('./areas/events/events.tsx')).Events,
      },
    ],
  },
  {
    title: 'Explore',
    areas: [
      {
        path: '/logs',
        title: 'Logs',
        requiredCall: declareCall<typeof listLogs>('GET', '/api/logs'),
        load: async () => (await import('./areas/logs/logs.tsx')).Logs,
      },
      {
        path: '/traces',
        title: 'Traces',
        requiredCall: declareCall<typeof listTraces>('GET', '/api/traces'),
        load: async () => (await import('./areas/traces/traces.tsx')).Traces,
      },
      {
        // Prometheus scrapes `/metrics`.
        path: '/explore-metrics',
        title: 'Metrics',
        requiredCall: declareCall<typeof listMetrics>('GET', '/api/metrics'),
        load: async () => (await import('./areas/metrics/metrics.tsx')).Metrics,
      },
      {
        path: '/dashboards',
        title: 'Dashboards',
        requiredCall: declareCall<typeof listDashboards>('GET', '/api/dashboards'),
        load: async () => (await import('./areas/dashboards/dashboards.tsx')).Dashboards,
      },
      {
        path: '/saved-queries',
        title: 'Saved queries',
        requiredCall: declareListCall<typeof savedQueryResource>('/api/saved-queries'),
        load: async () => (await import('./areas/saved-queries/saved-queries.tsx')).SavedQueries,
      },
      {
        path: '/ask',
        title: 'Ask',
        requiredCall: declareCall<typeof answerQuestion>('POST', '/api/ai/query'),
        load: async () => (await import('./areas/ask/ask.tsx')).Questions,
      },
    ],
  },
  {
    title: 'Infrastructure',
    areas: [
      {
        path: '/infrastructure',
        title: 'Hosts',
        requiredCall: declareCall<typeof listHosts>('GET', '/api/infrastructure/hosts'),
        load: async () => (await import('./areas/infrastructure/infrastructure.tsx')).Infrastructure,
      },
      {
        path: '/kubernetes',
        title: 'Kubernetes',
        requiredCall: declareCall<typeof listClusters>('GET', '/api/kubernetes/clusters'),
        load: async () => (await import('./areas/kubernetes/kubernetes.tsx')).Kubernetes,
      },
      {
        path: '/databases',
        title: 'Databases',
        requiredCall: declareCall<typeof listDatabases>('GET', '/api/databases'),
        load: async () => (await import('./areas/databases/databases.tsx')).Databases,
      },
      {
        path: '/network',
        title: 'Network',
        requiredCall: declareCall<typeof listFlows>('GET', '/api/network/flows'),
        load: async () => (await import('./areas/network/network.tsx')).Network,
      },
    ],
  },
  {
    title: 'Respond',
    areas: [
      {
        path: '/incidents',
        title: 'Incidents',
        requiredCall: declareListCall<typeof incidentResource>('/api/incidents'),
        load: async () => (await import('./areas/incidents/incidents.tsx')).Incidents,
      },
      {
        path: '/detections',
        title: 'Detections',
        requiredCall: declareCall<typeof listSignals>('GET', '/api/siem/signals'),
        load: async () => (await import('./areas/detections/detections.tsx')).Detections,
      },
    ],
  },
  {
    title: 'Set up',
    areas: [
      {
        path: '/get-started',
        title: 'Get started',
        requiredCall: declareCall<typeof showOnboarding>('GET', '/api/onboarding'),
        load: async () => (await import('./areas/get-started/get-started.tsx')).GetStarted,
      },
      {
        path: '/settings',
        title: 'Settings',
        requiredCall: declareCall<typeof getUsage>('GET', '/api/usage'),
        load: async () => (await import('./areas/settings/settings.tsx')).Settings,
      },
    ],
  },
];
