import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-traces-jaeger.test.ts'), { servers: 2 });
