import Testing

@testable import UncurlClient
@testable import UncurlEngine

@Suite("The course of a task")
struct CourseTests {
    private final class Tally {
        var count = 0
    }

    private func isNothing(_ held: Held?) -> Bool {
        if case .nothing? = held { true } else { false }
    }

    @Test("a question is answered once, and a late answer to an earlier question has no effect")
    func questions() {
        var course = Course()
        course.start()
        let first = course.ask()
        #expect(isNothing(course.held(by: first)))
        let second = course.ask()
        #expect(course.held(by: first) == nil && isNothing(course.held(by: second)))
        #expect(first != second && course.questions == 2)
        course.start()
        #expect(course.held(by: second) == nil && course.isStarting)
    }

    @Test("an answer that ends while its question is open waits behind the question, and its end is handled once")
    func ended() {
        var course = Course()
        course.start()
        let tally = Tally()
        let isBehind = course.endBehindQuestion { tally.count += 1 }
        #expect(!isBehind)
        let question = course.ask()
        let isEnded = course.endBehindQuestion { tally.count += 1 }
        #expect(isEnded)
        guard case .ended? = course.held(by: question) else {
            Issue.record("nothing is held")
            return
        }
        let next = course.ask()
        guard case .ended(let then)? = course.held(by: next) else {
            Issue.record("the next question does not hold what the first one held")
            return
        }
        #expect(tally.count == 0)
        then()
        #expect(tally.count == 1)
    }

    @Test("content that comes behind a question is kept, and when it is more than is worth reading, reading is held")
    func ahead() {
        var course = Course()
        course.load(from: .exchange(ExchangeID(slot: 1, generation: 2)))
        let question = course.ask()
        let half = [UInt8](repeating: 1, count: Course.most / 2)
        for isFull in [false, false] {
            let holds = course.keep(half.span)
            #expect(holds == isFull && course.holds?.1.reading == isFull)
        }
        let isFull = course.keep([2].span)
        #expect(isFull && course.holds?.1.reading == true && course.holds?.1.rest == .question)
        let next = course.ask()
        #expect(course.held(by: question) == nil && course.held(by: next) != nil)
        let ahead = course.takeAhead()
        #expect(ahead == half + half + [2] && course.ahead.isEmpty && course.holds?.1.reading == false)
    }

    @Test("content that came behind a question is forgotten when the answer is left", arguments: 0..<3)
    func left(way: Int) {
        var course = Course()
        course.load(from: .exchange(ExchangeID(slot: 1, generation: 2)))
        _ = course.ask()
        _ = course.keep([1, 2].span)
        switch way {
        case 0: course.start()
        case 1: _ = course.end()
        default: course.load(from: .exchange(ExchangeID(slot: 1, generation: 2)))
        }
        #expect(course.ahead == (way == 2 ? [1, 2] : []))
    }

    @Test("a load that has ended stays ended, and what waited for the task to be resumed never runs")
    func end() {
        var course = Course()
        _ = course.suspend()
        let tally = Tally()
        course.deferUntilResumed { tally.count += 1 }
        guard case .new? = course.end() else {
            Issue.record("it did not end from its beginning")
            return
        }
        let isOver = course.end() == nil
        #expect(isOver)
        course.start()
        let question = course.ask()
        let isBehind = course.endBehindQuestion {}
        #expect(course.isEnded && course.held(by: question) == nil && !isBehind)
        let isNothingLeft = course.resume() == nil
        #expect(isNothingLeft && tally.count == 0)
    }

    @Test("work deferred while the task was suspended is handed out once, when it is resumed")
    func suspension() {
        var course = Course()
        let (isFirst, isSecond) = (course.suspend(), course.suspend())
        #expect(isFirst && !isSecond && course.isSuspended)
        let tally = Tally()
        course.deferUntilResumed { tally.count += 1 }
        course.resume()?()
        #expect(tally.count == 1 && !course.isSuspended)
        let isNothingLeft = course.resume() == nil
        let suspends = course.suspend()
        #expect(isNothingLeft && suspends)
    }

    @Test("a delegate that was behind catches up once, and then holds nothing back")
    func behind() {
        var course = Course()
        course.load(from: .exchange(ExchangeID(slot: 1, generation: 2)))
        course.fallBehind()
        course.fallBehind()
        #expect(course.holds?.1.reading == true)
        let (hasCaughtUp, hasAgain) = (course.catchUp(), course.catchUp())
        #expect(hasCaughtUp && !hasAgain && course.holds?.1.reading == false)
    }

    @Test("only a source can be held back")
    func holds() {
        var course = Course()
        course.fallBehind()
        #expect(course.holds == nil && course.source == nil)
        course.start()
        _ = course.ask()
        #expect(course.holds == nil && isNothing(course.held))
    }

    @Test(
        "reading is held for a suspension and a delegate that is behind, sending for a suspension alone",
        arguments: [
            (false, false, false, Rest.none), (true, false, false, .suspension), (false, true, false, .none),
            (false, false, true, .question), (true, true, true, .suspension), (false, true, true, .question),
        ]
    )
    func exchange(isSuspended: Bool, isBehind: Bool, isAsking: Bool, rest: Rest) {
        let id = ExchangeID(slot: 1, generation: 2)
        var course = Course()
        course.load(from: .exchange(id))
        if isAsking { _ = course.ask() }
        if isSuspended { _ = course.suspend() }
        if isBehind { course.fallBehind() }
        let holds = course.holds?.1
        #expect(holds?.reading == (isSuspended || isBehind) && holds?.sending == isSuspended && holds?.rest == rest)
        #expect(course.isCurrent(id) && !course.isCurrent(ExchangeID(slot: 1, generation: 3)))
        #expect((course.source == nil) == isAsking)
    }
}
