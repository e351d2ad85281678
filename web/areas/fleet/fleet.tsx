/** Fleet: agents that instrument services, coverage of hosts and services, and manifests that install agents */
import { createTabbedView } from '../../frame/parts.tsx';
import { FleetAgents } from './agents.tsx';
import { Coverage } from './coverage.tsx';
import { Install } from './install.tsx';

export const Fleet = createTabbedView('Fleet', [
  { name: '', title: 'Agents', View: FleetAgents },
  { name: 'coverage', title: 'Coverage', View: Coverage },
  { name: 'install', title: 'Install', View: Install },
]);
