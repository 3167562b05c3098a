import Benchmark
import UncurlReactor

/// What the loop's own steps cost, a thousand at a time. The figures of the report are for one.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock],
        warmupIterations: 5,
        scalingFactor: .kilo,
        maxDuration: .seconds(2),
        maxIterations: 500
    )

    Benchmark("post from another thread") { benchmark in
        let group = try EventLoopGroup()
        defer { group.shutdown() }
        let crossing = Crossing(to: group.loops[0])
        benchmark.startMeasurement()
        crossing.postAndWait(benchmark.scaledIterations.count)
        benchmark.stopMeasurement()
    }

    Benchmark("wake-up and answer between two loops") { benchmark in
        let group = try EventLoopGroup(count: 2)
        defer { group.shutdown() }
        let rally = Rally(group.loops[0], group.loops[1])
        benchmark.startMeasurement()
        rally.play(benchmark.scaledIterations.count)
        benchmark.stopMeasurement()
    }

    Benchmark("post by the loop to itself, a turn each") { benchmark in
        let loop = try EventLoop()
        let chain = SelfPost(loop, count: benchmark.scaledIterations.count)
        loop.post { chain.next() }
        benchmark.startMeasurement()
        loop.run()
        benchmark.stopMeasurement()
    }

    Benchmark("cancel and arm a timer, 10,000 armed") { benchmark in
        let loop = try EventLoop()
        let handler = Nobody()
        var timers = (0..<10_000).map { loop.arm(at: Deadlines.spread(loop.now, $0), handler) }
        benchmark.startMeasurement()
        for index in benchmark.scaledIterations {
            let place = index &* 7_919 % timers.count
            loop.cancel(timers[place])
            timers[place] = loop.arm(at: Deadlines.spread(loop.now, index), handler)
        }
        benchmark.stopMeasurement()
    }

    Benchmark("await an answer of the loop, task on the loop") { benchmark in
        let group = try EventLoopGroup()
        let loop = group.loops[0]
        let iterations = benchmark.scaledIterations
        await withTaskExecutorPreference(loop.executor) {
            benchmark.startMeasurement()
            for _ in iterations { await Answers.one(from: loop) }
            benchmark.stopMeasurement()
        }
        group.shutdown()
    }

    Benchmark("await an answer of the loop, task on the global executor") { benchmark in
        let group = try EventLoopGroup()
        let loop = group.loops[0]
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { await Answers.one(from: loop) }
        benchmark.stopMeasurement()
        group.shutdown()
    }
}
