/** API calls of the Ask area */
import type { answerQuestion } from '../../../api/groups/ai/query.ts';
import type { answerFromRunbooks } from '../../../api/groups/ai/runbook-answer.ts';
import type {
  addRunbookDocument,
  deleteRunbookDocument,
  listRunbookDocuments,
} from '../../../api/groups/ai/runbook-documents.ts';
import type { searchRunbooks } from '../../../api/groups/ai/runbook-search.ts';
import type { applySuggestion, dismissSuggestion, listSuggestions } from '../../../api/groups/ai/suggestions.ts';
import { declareCall, type ResponseBody, type WithFilters } from '../../client/call.ts';

export const answerQuestionCall = declareCall<typeof answerQuestion>('POST', '/api/ai/query');
export const suggestionsCall = declareCall<typeof listSuggestions>('GET', '/api/ai/suggestions');
export const applySuggestionCall = declareCall<typeof applySuggestion>('POST', '/api/ai/suggestions/{id}/apply');
export const dismissSuggestionCall = declareCall<typeof dismissSuggestion>('DELETE', '/api/ai/suggestions/{id}');
export const runbookAnswerCall = declareCall<typeof answerFromRunbooks>('POST', '/api/ai/rag/answer');
export const searchPassagesCall = declareCall<typeof searchRunbooks>('POST', '/api/ai/rag/search');
export const documentsCall = declareCall<WithFilters<typeof listRunbookDocuments>>('GET', '/api/ai/rag/documents');
export const addDocumentCall = declareCall<typeof addRunbookDocument>('POST', '/api/ai/rag/documents');
export const deleteDocumentCall = declareCall<typeof deleteRunbookDocument>('DELETE', '/api/ai/rag/documents/{id}');

export type Suggestion = ResponseBody<typeof listSuggestions>['items'][number];
export type RunbookAnswer = ResponseBody<typeof answerFromRunbooks>;
export type PassageSearchResult = ResponseBody<typeof searchRunbooks>;
export type Passage = PassageSearchResult['items'][number];
export type RunbookDocument = ResponseBody<typeof listRunbookDocuments>['items'][number];
