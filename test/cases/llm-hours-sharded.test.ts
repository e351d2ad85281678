import { overServedColumns } from '../end-to-end/served-columns.ts';

await overServedColumns(() => import('./llm-hours.test.ts'), { servers: 2 });
