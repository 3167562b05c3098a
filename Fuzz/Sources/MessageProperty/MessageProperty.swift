import URLLoading

/// Any octets as what a server says in Set-Cookie, Content-Disposition and Content-Type, and as what a caller puts into a
/// field: no trap, no cookie or field that could end a line, no file name that is a path, and a cookie read back from
/// its properties is sent as it was.
///
/// The first octet chooses the URL.
public func messageProperty(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let text = String(decoding: input.dropFirst(), as: UTF8.self)
    let urls = [
        "http://h.test/", "https://h.test/a/b?c", "https://x.h.test", "http://1.2.3.4/", "https://[::1]/a",
        "http://test./",
        "file:///a",
    ]
    guard let url = URL(string: urls[Int(first) % urls.count]) else { return }
    cookieProperty(text, url)
    responseProperty(text, url)
    requestProperty(text, url)
}

private func cookieProperty(_ text: String, _ url: URL) {
    let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": text], for: url)
    for cookie in cookies {
        require(!holdsControls(cookie.name) && !holdsControls(cookie.value), "a cookie holds no control")
        require(cookie.path.hasPrefix("/"), "a path begins with a slash")
        require(cookie.name.utf8.count + cookie.value.utf8.count <= 4096, "a cookie has its limit")
        require((cookie.expiresDate?.timeIntervalSinceNow ?? 0) <= 400 * 86_400, "a cookie's life has its limit")
        guard let copy = HTTPCookie(properties: cookie.properties ?? [:]) else { continue }
        require(copy.name == cookie.name && copy.value == cookie.value, "properties tell name and value")
        require(copy.isSecure == cookie.isSecure && copy.path == cookie.path, "and where it goes")
    }
    let header = HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
    require(!holdsControls(header ?? "") && header?.utf8.count ?? 0 <= 8190, "what is sent is one field of its size")
}

private func responseProperty(_ text: String, _ url: URL) {
    let fields = ["Content-Disposition": text, "Content-Type": text, "Content-Length": text]
    guard let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields) else {
        return
    }
    nameProperty(response)
    let named = ["Content-Disposition": "attachment; filename=\"\(text)"]
    HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: named).map(nameProperty)
    URL(string: "http://h.test/\(text)").map { place in
        nameProperty(URLResponse(url: place, mimeType: nil, expectedContentLength: 0, textEncodingName: nil))
    }
    require(response.expectedContentLength >= -1, "a length is none or not below zero")
    require(response.mimeType != "", "a type is not empty")
    _ = response.textEncodingName
}

private func nameProperty(_ response: URLResponse) {
    let name = response.suggestedFilename ?? ""
    require(!name.isEmpty && name.utf8.count <= 255, "a file's name has a length")
    require(!name.hasPrefix(".") && !name.contains("/") && !holdsControls(name), "a file's name is no path: \(name)")
}

private func requestProperty(_ text: String, _ url: URL) {
    var request = URLRequest(url: url)
    request.addValue(text, forHTTPHeaderField: "A")
    request.addValue("b", forHTTPHeaderField: "A")
    request.setValue("c", forHTTPHeaderField: text)
    request.httpMethod = text
    for (name, value) in request.allHTTPHeaderFields ?? [:] {
        require(!holdsControls(name) && !holdsControls(withoutFolds(value)), "no field ends a line")
        require(!name.isEmpty && !name.contains(" ") && !name.contains(":"), "no name ends early")
    }
}

/// The value as it is sent: a line end before a blank is a fold, which a request keeps.
private func withoutFolds(_ value: String) -> String {
    var octets = Array(value.utf8)
    for index in octets.indices.dropLast(2) where octets[index] == 0x0D && octets[index + 1] == 0x0A {
        if [0x20, 0x09].contains(octets[index + 2]) { (octets[index], octets[index + 1]) = (0x20, 0x20) }
    }
    return String(decoding: octets, as: UTF8.self)
}

/// Controls but for the tab.
private func holdsControls(_ text: String) -> Bool {
    text.utf8.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }
}

/// Ends the process where a property does not hold: the fuzzer takes that for a finding, a test run for a failure.
private func require(_ holds: Bool, _ sentence: @autoclosure () -> String) {
    if !holds { fatalError("property violated: \(sentence())") }
}
