import { testLinearTime } from './linear-time.case.ts';

// 10 MB of each input takes minutes: test/slow does that.
testLinearTime(400_000);
