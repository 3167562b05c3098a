import Testing

@testable import HTTPEngine
@testable import URLLoading

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

    @Test("an answer that ends while its question is open waits complete behind the question")
    func complete() {
        var course = Course()
        course.start()
        let isBehind = course.completeBehindQuestion()
        #expect(!isBehind)
        let question = course.ask()
        let isComplete = course.completeBehindQuestion()
        #expect(isComplete)
        guard case .complete? = course.held(by: question) else {
            Issue.record("nothing is held")
            return
        }
        let next = course.ask()
        guard case .complete? = course.held(by: next) else {
            Issue.record("the next question does not hold what the first one held")
            return
        }
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
        let isComplete = course.completeBehindQuestion()
        #expect(course.isEnded && course.held(by: question) == nil && !isComplete)
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
        "reading is held for a suspension, a question and a delegate that is behind; sending for a suspension alone",
        arguments: [
            (false, false, false, false, false), (true, false, false, true, true), (false, true, false, true, false),
            (false, false, true, true, false), (true, true, true, true, true),
        ]
    )
    func exchange(isSuspended: Bool, isBehind: Bool, isAsking: Bool, reading: Bool, sending: Bool) {
        let id = ExchangeID(slot: 1, generation: 2)
        var course = Course()
        course.load(from: .exchange(id))
        if isAsking { _ = course.ask() }
        if isSuspended { _ = course.suspend() }
        if isBehind { course.fallBehind() }
        let holds = course.holds?.1
        #expect(holds?.reading == reading && holds?.sending == sending)
        #expect(course.isCurrent(id) && !course.isCurrent(ExchangeID(slot: 1, generation: 3)))
        #expect((course.source == nil) == isAsking)
    }
}
