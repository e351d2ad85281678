import { instancesSuite } from './api-instances.ts';

instancesSuite('sqlite');
