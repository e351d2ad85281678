/** The areas of the page, in the order of the menu. */
import type { Area } from './frame/area.ts';

export const areas: readonly Area[] = [
  {
    path: '/services',
    title: 'Services',
    entitlement: 'traces',
    load: async () => (await import('./areas/services/services.tsx')).Services,
  },
  {
    path: '/logs',
    title: 'Logs',
    entitlement: 'logs',
    load: async () => (await import('./areas/logs/logs.tsx')).Logs,
  },
  {
    path: '/traces',
    title: 'Traces',
    entitlement: 'traces',
    load: async () => (await import('./areas/traces/traces.tsx')).Traces,
  },
  {
    // `/metrics` is where Prometheus scrapes.
    path: '/explore-metrics',
    title: 'Metrics',
    entitlement: 'metrics',
    load: async () => (await import('./areas/metrics/metrics.tsx')).Metrics,
  },
  {
    path: '/dashboards',
    title: 'Dashboards',
    load: async () => (await import('./areas/dashboards/dashboards.tsx')).Dashboards,
  },
  {
    path: '/errors',
    title: 'Errors',
    load: async () => (await import('./areas/errors/errors.tsx')).Errors,
  },
  {
    path: '/alerts',
    title: 'Alerts',
    load: async () => (await import('./areas/alerts/alerts.tsx')).Alerts,
  },
  {
    path: '/incidents',
    title: 'Incidents',
    load: async () => (await import('./areas/incidents/incidents.tsx')).Incidents,
  },
  {
    path: '/slos',
    title: 'Objectives',
    load: async () => (await import('./areas/slos/slos.tsx')).Slos,
  },
  {
    path: '/infrastructure',
    title: 'Infrastructure',
    load: async () => (await import('./areas/infrastructure/infrastructure.tsx')).Infrastructure,
  },
  {
    path: '/kubernetes',
    title: 'Kubernetes',
    load: async () => (await import('./areas/kubernetes/kubernetes.tsx')).Kubernetes,
  },
  {
    path: '/databases',
    title: 'Databases',
    load: async () => (await import('./areas/databases/databases.tsx')).Databases,
  },
  {
    path: '/network',
    title: 'Network',
    load: async () => (await import('./areas/network/network.tsx')).Network,
  },
  {
    path: '/detections',
    title: 'Detections',
    entitlement: 'siem',
    load: async () => (await import('./areas/detections/detections.tsx')).Detections,
  },
  {
    path: '/get-started',
    title: 'Get started',
    load: async () => (await import('./areas/get-started/get-started.tsx')).GetStarted,
  },
  {
    path: '/settings',
    title: 'Settings',
    load: async () => (await import('./areas/settings/settings.tsx')).Settings,
  },
];
