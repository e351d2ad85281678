import type { listAgents, showAgent } from '../../../api/groups/agentsight/agents.ts';
import type { listAgentRisks } from '../../../api/groups/agentsight/risks.ts';
import type { listAgentSessions } from '../../../api/groups/agentsight/sessions.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';

export const agentsCall = declareCall<typeof listAgents>('GET', '/api/agentsight/agents');
export const agentCall = declareCall<typeof showAgent>('GET', '/api/agentsight/agents/{id}');
export const sessionsCall = declareCall<typeof listAgentSessions>('GET', '/api/agentsight/sessions');
export const risksCall = declareCall<typeof listAgentRisks>('GET', '/api/agentsight/risks');

export type AgentItem = ResponseBody<typeof listAgents>['items'][number];
export type AgentDetails = ResponseBody<typeof showAgent>;
export type AgentSession = ResponseBody<typeof listAgentSessions>['items'][number];
export type Turn = AgentSession['turns'][number];
export type Effect = Turn['effects'][number];
export type RiskItem = ResponseBody<typeof listAgentRisks>['items'][number];
