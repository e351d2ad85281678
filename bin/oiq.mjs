#!/usr/bin/env node
import { run } from './node.mjs';

run('main.ts', process.argv.slice(2));
