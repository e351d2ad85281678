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
];
