import { testChunking } from '../unit/citations/chunking.case.ts';

testChunking(4_000, 600_000);
