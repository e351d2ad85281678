/** Language models: overview, cost, requests, and models with their prices */
import { createTabbedView } from '../../frame/parts.tsx';
import { LlmCostPage } from './cost.tsx';
import { LlmModelsPage } from './models.tsx';
import { LlmOverviewPage } from './overview.tsx';
import { LlmRequestsPage } from './requests.tsx';

export const Llm = createTabbedView('LLM', [
  { name: '', title: 'Overview', View: LlmOverviewPage },
  { name: 'cost', title: 'Cost', View: LlmCostPage },
  { name: 'requests', title: 'Requests', View: LlmRequestsPage },
  { name: 'models', title: 'Models', View: LlmModelsPage },
]);
