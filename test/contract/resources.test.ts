import { resourcesContract } from './resources.ts';

resourcesContract('sqlite');
