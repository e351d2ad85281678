/** API calls of the Ask area, and the time zone that they send */
import type { answerQuestion } from '../../../api/groups/ai/query.ts';
import type { answerFromRunbooks } from '../../../api/groups/ai/runbook-answer.ts';
import type {
  addRunbookDocument,
  deleteRunbookDocument,
  listRunbookDocuments,
} from '../../../api/groups/ai/runbook-documents.ts';
import type { searchRunbooks } from '../../../api/groups/ai/runbook-search.ts';
import type { applySuggestion, dismissSuggestion, listSuggestions } from '../../../api/groups/ai/suggestions.ts';
import { type Answered, callOf, type Filtered } from '../../client/call.ts';
import { zone } from '../../frame/shown-time.ts';

export const questionCall = callOf<typeof answerQuestion>('POST', '/api/ai/query');
export const suggestionsCall = callOf<typeof listSuggestions>('GET', '/api/ai/suggestions');
export const applySuggestionCall = callOf<typeof applySuggestion>('POST', '/api/ai/suggestions/{id}/apply');
export const dismissSuggestionCall = callOf<typeof dismissSuggestion>('DELETE', '/api/ai/suggestions/{id}');
export const runbookAnswerCall = callOf<typeof answerFromRunbooks>('POST', '/api/ai/rag/answer');
export const passagesCall = callOf<typeof searchRunbooks>('POST', '/api/ai/rag/search');
export const documentsCall = callOf<Filtered<typeof listRunbookDocuments>>('GET', '/api/ai/rag/documents');
export const addDocumentCall = callOf<typeof addRunbookDocument>('POST', '/api/ai/rag/documents');
export const deleteDocumentCall = callOf<typeof deleteRunbookDocument>('DELETE', '/api/ai/rag/documents/{id}');

export type Suggestion = Answered<typeof listSuggestions>['items'][number];
export type RunbookAnswer = Answered<typeof answerFromRunbooks>;
export type PassageSearchResult = Answered<typeof searchRunbooks>;
export type Passage = PassageSearchResult['items'][number];
export type RunbookDocument = Answered<typeof listRunbookDocuments>['items'][number];

/** Returns the name of the user's time zone. */
export const timeZoneName = (): string =>
  zone.value === 'browser' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone.value;
