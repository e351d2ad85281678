/** Security: overview, events, runtime threats, secrets in telemetry, and vulnerabilities */
import { createTabbedView } from '../../frame/parts.tsx';
import { Events } from './events.tsx';
import { VulnerabilityImport } from './import.tsx';
import { SecurityOverviewPage } from './overview.tsx';
import { Secrets } from './secrets.tsx';
import { Threats } from './threats.tsx';
import { Vulnerabilities } from './vulnerabilities.tsx';

export const Security = createTabbedView('Security', [
  { name: '', title: 'Overview', View: SecurityOverviewPage },
  { name: 'events', title: 'Events', View: Events },
  { name: 'threats', title: 'Runtime threats', View: Threats },
  { name: 'secrets', title: 'Secrets', View: Secrets },
  { name: 'vulnerabilities', title: 'Vulnerabilities', View: Vulnerabilities },
  { name: 'import', title: 'Import', View: VulnerabilityImport },
]);
