/** API calls of Get started */
import type { dismissOnboardingSteps, showOnboarding } from '../../../api/groups/onboarding/checklist.ts';
import type { deleteDemo, loadDemo, showDemo } from '../../../api/groups/onboarding/demo.ts';
import type { showReceivedTelemetry } from '../../../api/groups/onboarding/received-telemetry.ts';
import type { listSnippets } from '../../../api/groups/onboarding/snippets.ts';
import { declareCall } from '../../client/call.ts';

export const onboardingCall = declareCall<typeof showOnboarding>('GET', '/api/onboarding');
export const dismissCall = declareCall<typeof dismissOnboardingSteps>('PUT', '/api/onboarding');
export const snippetsCall = declareCall<typeof listSnippets>('GET', '/api/onboarding/snippets');
export const receivedCall = declareCall<typeof showReceivedTelemetry>('GET', '/api/onboarding/received');
export const demoCall = declareCall<typeof showDemo>('GET', '/api/onboarding/demo');
export const loadDemoCall = declareCall<typeof loadDemo>('POST', '/api/onboarding/demo');
export const deleteDemoCall = declareCall<typeof deleteDemo>('DELETE', '/api/onboarding/demo');
