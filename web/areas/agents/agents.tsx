/** Agents on hosts: agents with coverage, sessions, and risks */
import { createTabbedView } from '../../frame/parts.tsx';
import { AgentListPage } from './agent-list.tsx';
import { Risks } from './risks.tsx';
import { AgentSessions } from './sessions.tsx';

export const Agents = createTabbedView('Agents', [
  { name: '', title: 'Agents', View: AgentListPage },
  { name: 'sessions', title: 'Sessions', View: AgentSessions },
  { name: 'risks', title: 'Risks', View: Risks },
]);
