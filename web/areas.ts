/** Areas of the page in menu order. The page opens at the first one that the user may open. */

import {
  Activity,
  Bell,
  Bookmark,
  Bot,
  Boxes,
  Bug,
  CalendarClock,
  ChartGantt,
  ChartLine,
  ChartSpline,
  Database,
  Gauge,
  Globe,
  House,
  LayoutDashboard,
  MessagesSquare,
  Network,
  RadioTower,
  Rocket,
  ScrollText,
  Server,
  Settings,
  ShieldAlert,
  ShieldCheck,
  ShipWheel,
  Siren,
  Sparkles,
} from 'lucide';
import type { listAgents } from '../api/groups/agentsight/agents.ts';
import type { listAnomalies } from '../api/groups/ai/anomalies.ts';
import type { answerQuestion } from '../api/groups/ai/query.ts';
import type { listAlerts } from '../api/groups/alerts/alerts.ts';
import type { listDashboards } from '../api/groups/dashboards/list.ts';
import type { listDatabases } from '../api/groups/databases/list.ts';
import type { listErrors } from '../api/groups/errors/list.ts';
import type { incidentResource } from '../api/groups/incidents/incident.ts';
import type { listHosts } from '../api/groups/infrastructure/hosts.ts';
import type { listInstrumentationAgents } from '../api/groups/instrumentation/agents.ts';
import type { listClusters } from '../api/groups/kubernetes/clusters.ts';
import type { getLlmOverview } from '../api/groups/llm/overview.ts';
import type { listLogs } from '../api/groups/logs/list.ts';
import type { listMetrics } from '../api/groups/metrics/list.ts';
import type { listFlows } from '../api/groups/network/flows.ts';
import type { showOnboarding } from '../api/groups/onboarding/checklist.ts';
import type { listEvents } from '../api/groups/overview/events.ts';
import type { showOverview } from '../api/groups/overview/overview.ts';
import type { listRumApplications } from '../api/groups/rum/applications.ts';
import type { savedQueryResource } from '../api/groups/saved-queries/saved-query.ts';
import type { getSecurityOverview } from '../api/groups/security/overview.ts';
import type { listServices } from '../api/groups/services/list.ts';
import type { listSignals } from '../api/groups/siem/signals.ts';
import type { sloResource } from '../api/groups/slos/slo.ts';
import type { checkResource } from '../api/groups/synthetics/check.ts';
import type { listTraces } from '../api/groups/traces/list.ts';
import type { getUsage } from '../api/groups/usage/show.ts';
import { declareCall, declareListCall } from './client/call.ts';
import { request } from './client/request.ts';
import { readPathName } from './frame/address.ts';
import type { AreaGroup } from './frame/area.ts';

const alertsCall = declareCall<typeof listAlerts>('GET', '/api/alerts');
const incidentsCall = declareListCall<typeof incidentResource>('/api/incidents');

/** Maximum number that the menu shows */
const maxCount = 99;

const toCount = ({
  items,
  nextCursor,
}: {
  readonly items: readonly unknown[];
  readonly nextCursor: string | null;
}) => ({
  count: items.length,
  hasMore: nextCursor !== null,
});

export const areaGroups: readonly AreaGroup[] = [
  {
    title: '',
    areas: [
      {
        path: '/overview',
        title: 'Overview',
        icon: House,
        docs: 'get-started',
        requiredCall: declareCall<typeof showOverview>('GET', '/api/overview'),
        load: async () => (await import('./areas/overview/overview.tsx')).OverviewPage,
      },
    ],
  },
  {
    title: 'Monitor',
    areas: [
      {
        path: '/services',
        title: 'Services',
        icon: Boxes,
        docs: 'explore/traces',
        requiredCall: declareCall<typeof listServices>('GET', '/api/services'),
        readPageName: () => readPathName(1),
        load: async () => (await import('./areas/services/services.tsx')).Services,
      },
      {
        path: '/errors',
        title: 'Errors',
        icon: Bug,
        docs: 'explore/traces',
        requiredCall: declareCall<typeof listErrors>('GET', '/api/errors'),
        load: async () => (await import('./areas/errors/errors.tsx')).Errors,
      },
      {
        path: '/alerts',
        title: 'Alerts',
        icon: Bell,
        docs: 'alerts/rules',
        requiredCall: alertsCall,
        count: {
          title: 'firing',
          load: async () => toCount(await request(alertsCall, { query: { state: 'firing', limit: maxCount } })),
        },
        load: async () => (await import('./areas/alerts/alerts.tsx')).Alerts,
      },
      {
        path: '/incidents',
        title: 'Incidents',
        icon: Siren,
        docs: 'alerts/incidents',
        requiredCall: incidentsCall,
        count: {
          title: 'open',
          load: async () => toCount(await request(incidentsCall, { query: { status: 'open', limit: maxCount } })),
        },
        load: async () => (await import('./areas/incidents/incidents.tsx')).Incidents,
      },
      {
        path: '/anomalies',
        title: 'Anomalies',
        icon: ChartSpline,
        docs: 'alerts/anomalies',
        requiredCall: declareCall<typeof listAnomalies>('GET', '/api/ai/anomalies'),
        load: async () => (await import('./areas/anomalies/anomalies.tsx')).Anomalies,
      },
      {
        path: '/slos',
        title: 'SLOs',
        icon: Gauge,
        docs: 'alerts/slos',
        requiredCall: declareListCall<typeof sloResource>('/api/slos'),
        load: async () => (await import('./areas/slos/slos.tsx')).Slos,
      },
      {
        path: '/checks',
        title: 'Synthetics',
        icon: Activity,
        docs: 'alerts/synthetics',
        requiredCall: declareListCall<typeof checkResource>('/api/synthetics/checks'),
        load: async () => (await import('./areas/checks/checks.tsx')).Checks,
      },
      {
        path: '/llm',
        title: 'LLM',
        icon: MessagesSquare,
        docs: 'llm',
        requiredCall: declareCall<typeof getLlmOverview>('GET', '/api/llm/overview'),
        load: async () => (await import('./areas/llm/llm.tsx')).Llm,
      },
      {
        path: '/agents',
        title: 'Agents',
        icon: Bot,
        docs: 'agents',
        requiredCall: declareCall<typeof listAgents>('GET', '/api/agentsight/agents'),
        load: async () => (await import('./areas/agents/agents.tsx')).Agents,
      },
      {
        path: '/digital-experience',
        title: 'Digital experience',
        icon: Globe,
        docs: 'rum',
        requiredCall: declareCall<typeof listRumApplications>('GET', '/api/rum/applications'),
        load: async () => (await import('./areas/digital-experience/digital-experience.tsx')).DigitalExperience,
      },
      {
        path: '/events',
        title: 'Events',
        icon: CalendarClock,
        docs: 'explore/traces',
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
        icon: ScrollText,
        docs: 'explore/logs',
        requiredCall: declareCall<typeof listLogs>('GET', '/api/logs'),
        load: async () => (await import('./areas/logs/logs.tsx')).Logs,
      },
      {
        path: '/traces',
        title: 'Traces',
        icon: ChartGantt,
        docs: 'explore/traces',
        requiredCall: declareCall<typeof listTraces>('GET', '/api/traces'),
        readPageName: () => readPathName(1).slice(0, 16),
        load: async () => (await import('./areas/traces/traces.tsx')).Traces,
      },
      {
        // Prometheus scrapes `/metrics`.
        path: '/explore-metrics',
        title: 'Metrics',
        icon: ChartLine,
        docs: 'explore/metrics',
        requiredCall: declareCall<typeof listMetrics>('GET', '/api/metrics'),
        load: async () => (await import('./areas/metrics/metrics.tsx')).Metrics,
      },
      {
        path: '/dashboards',
        title: 'Dashboards',
        icon: LayoutDashboard,
        docs: 'dashboards/build',
        requiredCall: declareCall<typeof listDashboards>('GET', '/api/dashboards'),
        load: async () => (await import('./areas/dashboards/dashboards.tsx')).Dashboards,
      },
      {
        path: '/saved-queries',
        title: 'Saved queries',
        icon: Bookmark,
        docs: 'explore/search',
        requiredCall: declareListCall<typeof savedQueryResource>('/api/saved-queries'),
        load: async () => (await import('./areas/saved-queries/saved-queries.tsx')).SavedQueries,
      },
      {
        path: '/ask',
        title: 'Ask AI',
        icon: Sparkles,
        docs: 'explore/ask',
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
        icon: Server,
        docs: 'send/collectors',
        requiredCall: declareCall<typeof listHosts>('GET', '/api/infrastructure/hosts'),
        load: async () => (await import('./areas/infrastructure/infrastructure.tsx')).Infrastructure,
      },
      {
        path: '/kubernetes',
        title: 'Kubernetes',
        icon: ShipWheel,
        docs: 'send/collectors',
        requiredCall: declareCall<typeof listClusters>('GET', '/api/kubernetes/clusters'),
        load: async () => (await import('./areas/kubernetes/kubernetes.tsx')).Kubernetes,
      },
      {
        path: '/databases',
        title: 'Databases',
        icon: Database,
        docs: 'send/opentelemetry',
        requiredCall: declareCall<typeof listDatabases>('GET', '/api/databases'),
        load: async () => (await import('./areas/databases/databases.tsx')).Databases,
      },
      {
        path: '/network',
        title: 'Network',
        icon: Network,
        docs: 'explore/traces',
        requiredCall: declareCall<typeof listFlows>('GET', '/api/network/flows'),
        load: async () => (await import('./areas/network/network.tsx')).Network,
      },
      {
        path: '/fleet',
        title: 'Fleet',
        icon: RadioTower,
        docs: 'fleet',
        requiredCall: declareCall<typeof listInstrumentationAgents>('GET', '/api/instrumentation/agents'),
        load: async () => (await import('./areas/fleet/fleet.tsx')).Fleet,
      },
    ],
  },
  {
    title: 'Security',
    areas: [
      {
        path: '/security',
        title: 'Security',
        icon: ShieldCheck,
        docs: 'security',
        requiredCall: declareCall<typeof getSecurityOverview>('GET', '/api/security/overview'),
        load: async () => (await import('./areas/security/security.tsx')).Security,
      },
      {
        path: '/detections',
        title: 'Security signals',
        icon: ShieldAlert,
        docs: 'detections',
        requiredCall: declareCall<typeof listSignals>('GET', '/api/siem/signals'),
        load: async () => (await import('./areas/detections/detections.tsx')).Detections,
      },
    ],
  },
  {
    title: 'Manage',
    areas: [
      {
        path: '/get-started',
        title: 'Get started',
        icon: Rocket,
        docs: 'get-started',
        requiredCall: declareCall<typeof showOnboarding>('GET', '/api/onboarding'),
        load: async () => (await import('./areas/get-started/get-started.tsx')).GetStarted,
      },
      {
        path: '/settings',
        title: 'Settings',
        icon: Settings,
        docs: 'api',
        requiredCall: declareCall<typeof getUsage>('GET', '/api/usage'),
        load: async () => (await import('./areas/settings/settings.tsx')).Settings,
      },
    ],
  },
];
