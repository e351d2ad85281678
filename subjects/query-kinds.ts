/** Registers all kinds of queries. Modules that run, validate or describe queries import this file. */
import { queryKinds } from '../queries/kinds/index.ts';
import { registerQueryKinds } from '../queries/query-kind.ts';

registerQueryKinds(queryKinds);
