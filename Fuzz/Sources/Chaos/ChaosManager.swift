import Foundation
import Uncurl

/// One of Uncurl's managers, and the ways in which it makes requests.
final class ChaosManager: @unchecked Sendable {
    let group: Int
    private unowned let round: Round
    private let manager: HTTPSessionManager

    init(group: Int, of round: Round, isSecure: Bool) {
        (self.group, self.round) = (group, round)
        let base = URL(string: isSecure ? round.orders.secure : round.orders.plain)
        manager = HTTPSessionManager(baseURL: base, configuration: ChaosSession.configuration(round.folder, group))
        var policy = SecurityPolicy()
        if let roots = try? TrustedCertificate.all(inPEM: round.orders.authority) { policy.roots = .only(roots) }
        try? manager.setSecurityPolicy(policy)
        round.remains.watch(manager, "managers")
    }

    func invalidate(cancelling: Bool) {
        round.ledger.closes(group)
        manager.invalidate(cancellingTasks: cancelling)
    }

    func beginOne(_ dice: inout Dice) {
        let errand = Errand.random(round.orders, &dice)
        let (ledger, choice, isCut) = (round.ledger, dice.below(5), dice.chance(15))
        let request = HTTPRequest(.get, errand.url.absoluteString)
        let id = ledger.begin("by a manager", in: group)
        let control: TransferControl
        switch choice {
        case 0, 1:
            control =
                manager.start(request, serializer: .data) { response in
                    let complaint = errand.complaint(response.statusCode, response.data)
                    ledger.end(id, response.error, complaint)
                }.control
        case 2:
            let place = URL(fileURLWithPath: "\(round.folder)/file-\(id)")
            let transfer = manager.downloadTransfer(request, to: .file(place, options: .removePreviousFile)) {
                response in
                let content = try? Data(ofFile: place)
                try? FileManager.default.removeItem(at: place)
                ledger.end(id, response.error, content.flatMap { errand.complaint(response.statusCode, $0) })
            }
            transfer.resume()
            control = transfer.control
        case 3:
            var form = MultipartForm()
            try? form.append(.data(Data(count: dice.below(100_000))), name: "file")
            let upload = HTTPRequest(.post, "upload", body: .multipart(form))
            control = manager.start(upload, serializer: .data) { ledger.end(id, $0.error) }.control
        default:
            events(id, isCut: isCut, dice.below(60))
            return
        }
        guard dice.chance(25) else { return }
        let (isCancelled, time) = (dice.chance(50), dice.below(60))
        if !isCancelled { control.suspend() }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(time)) {
            guard isCancelled else { return control.resume() }
            ledger.cancels(id)
            control.cancel()
        }
    }

    private func events(_ id: Int, isCut: Bool, _ time: Int) {
        let (ledger, manager) = (round.ledger, manager)
        let work = Task {
            do {
                var count = 0
                for try await _ in manager.events(HTTPRequest(.get, "sse?count=3&delay=0.02")) { count += 1 }
                ledger.end(id, nil, count == 3 || Task.isCancelled ? nil : "\(count) events of 3")
            } catch {
                ledger.end(id, error)
            }
        }
        guard isCut else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(time)) {
            ledger.cancels(id)
            work.cancel()
        }
    }
}
