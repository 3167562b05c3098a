import LoadTester
